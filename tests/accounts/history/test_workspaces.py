"""The history of a workspace has its members, invitations and settings, and admins read it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import Change, Member, User, Workspace
from accounts.rights import Role
from accounts.services import NewAccount
from testing.accounts.accounts import account, bearer_client
from testing.accounts.fixtures import mallory as mallory
from testing.accounts.workspaces import add_member, key_client_in, team, token_client_in

INVITATIONS = "/api/workspaces/{}/invitations"


@pytest.fixture
def marketing(alice: NewAccount) -> Workspace:
    workspace = team(alice, "Marketing")
    Change.objects.all().delete()
    return workspace


def changes_of(workspace: Workspace) -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Oldest first."""
    rows = Change.objects.filter(owner=workspace).order_by("pk")
    return [(row.action, str(row.object_id), row.before, row.after) for row in rows]


def path_of_member(workspace: Workspace, member: NewAccount) -> str:
    return f"/api/workspaces/{workspace.public_id}/members/{member.user.public_id}"


def invite(client: APIClient, workspace: Workspace, **fields: str) -> Any:
    response = client.post(INVITATIONS.format(workspace.public_id), {"role": "editor", **fields})
    assert response.status_code == 201, response.content
    return response.json()["data"]["invitation"]


def test_a_new_workspace_and_its_name_are_recorded(bearer: APIClient, alice: NewAccount) -> None:
    Change.objects.all().delete()
    created = bearer.post("/api/workspaces", {"name": "Marketing"}).json()["data"]["workspace"]
    workspace = Workspace.objects.get(public_id=created["_id"])
    path = f"/api/workspaces/{created['_id']}"
    for name in ("Sales", "Sales"):
        assert bearer.patch(path, {"name": name}).status_code == 200
    assert changes_of(workspace) == [
        (
            "workspace.created",
            created["_id"],
            {},
            {
                "name": "Marketing",
                "plan": "pro",
                "ignoredNetworks": [],
                "healthCheck": "off",
                "codeLength": None,
                "codeAlphabet": None,
            },
        ),
        ("member.added", str(alice.user.public_id), {}, {"role": "owner"}),
        ("workspace.updated", created["_id"], {"name": "Marketing"}, {"name": "Sales"}),
    ]
    assert set(Change.objects.values_list("actor", "via")) == {(alice.user.pk, "token")}


def test_a_changed_plan_is_recorded(marketing: Workspace) -> None:
    Workspace.objects.filter(pk=marketing.pk).update(team_plan="enterprise")
    expected = ({"plan": "pro"}, {"plan": "enterprise"})
    assert changes_of(marketing) == [("workspace.updated", str(marketing.public_id), *expected)]


def test_an_accepted_invitation_is_recorded_without_the_address(
    bearer: APIClient, mallory: APIClient, stranger: NewAccount, marketing: Workspace
) -> None:
    invitation = invite(bearer, marketing, email="mallory@example.com")
    assert mallory.post(f"/api/invitations/{invitation['token']}/accept").status_code == 200
    member = str(stranger.user.public_id)
    assert changes_of(marketing) == [
        ("invitation.created", invitation["_id"], {}, {"role": "editor", "email": "set"}),
        ("member.added", member, {}, {"role": "editor"}),
        ("invitation.accepted", invitation["_id"], {"role": "editor"}, {}),
    ]
    actors = Change.objects.filter(owner=marketing).order_by("pk").values_list("actor__email", flat=True)
    assert list(actors) == ["alice@example.com", "mallory@example.com", "mallory@example.com"]
    texts = str(Change.objects.filter(owner=marketing).values_list("before", "after"))
    assert "@" not in texts


def test_a_refused_acceptance_records_nothing(
    bearer: APIClient, mallory: APIClient, marketing: Workspace
) -> None:
    invitation = invite(bearer, marketing, email="bob@example.com")
    assert mallory.post(f"/api/invitations/{invitation['token']}/accept").status_code == 403
    assert [change[0] for change in changes_of(marketing)] == ["invitation.created"]


def test_withdrawn_invitations_are_recorded(bearer: APIClient, marketing: Workspace) -> None:
    invitation = invite(bearer, marketing)
    path = f"{INVITATIONS.format(marketing.public_id)}/{invitation['_id']}"
    assert [bearer.delete(path).status_code for _ in range(2)] == [200, 404]
    assert changes_of(marketing)[1:] == [("invitation.withdrawn", invitation["_id"], {"role": "editor"}, {})]


def test_roles_and_removals_are_recorded_with_the_invitations_that_end(
    bearer: APIClient, mallory: APIClient, stranger: NewAccount, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.ADMIN)
    invitation = invite(mallory, marketing)
    Change.objects.all().delete()
    path, member = path_of_member(marketing, stranger), str(stranger.user.public_id)
    assert bearer.patch(path, {"role": "viewer"}).status_code == 200
    assert bearer.patch(path, {"role": "viewer"}).status_code == 200
    assert bearer.delete(path).status_code == 200
    assert changes_of(marketing) == [
        ("member.updated", member, {"role": "admin"}, {"role": "viewer"}),
        ("invitation.withdrawn", invitation["_id"], {"role": "editor"}, {}),
        ("member.removed", member, {"role": "viewer"}, {}),
    ]
    assert set(Change.objects.values_list("actor__email", "via")) == {("alice@example.com", "token")}


def test_the_deletion_of_an_account_removes_it_from_teams(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.EDITOR)
    member = str(stranger.user.public_id)
    Change.objects.all().delete()
    stranger.user.delete()
    assert changes_of(marketing) == [("member.removed", member, {"role": "editor"}, {})]
    assert not Change.objects.exclude(owner=marketing).exists()


def test_a_new_account_has_no_row_of_members(alice: NewAccount) -> None:
    assert not Change.objects.exclude(action="key.created").exists()


def test_the_history_of_a_workspace_is_deleted_with_it(bearer: APIClient, marketing: Workspace) -> None:
    invite(bearer, marketing)
    assert bearer.delete(f"/api/workspaces/{marketing.public_id}").status_code == 200
    assert not Change.objects.filter(owner=marketing.pk).exists()
    assert not Member.objects.filter(workspace=marketing.pk).exists()


def test_the_deletion_of_a_workspace_is_recorded_for_the_owner_who_deleted_it(
    alice: NewAccount, bearer: APIClient, stranger: NewAccount, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.OWNER)
    assert bearer.delete(f"/api/workspaces/{marketing.public_id}").status_code == 200
    [change] = Change.objects.filter(action="workspace.deleted")
    assert (change.owner_id, change.actor, change.via) == (alice.user.pk, alice.user, "token")
    assert (change.object_id, change.before) == (marketing.public_id, {"name": "Marketing", "plan": "pro"})


def test_a_refused_deletion_of_a_workspace_is_not_recorded(
    alice: NewAccount, bearer: APIClient, marketing: Workspace
) -> None:
    client = key_client_in(marketing, alice.api_key)
    assert client.post("/api/urls", {"originalUrl": "https://example.com/"}).status_code == 201
    assert bearer.delete(f"/api/workspaces/{marketing.public_id}").status_code == 409
    assert not Change.objects.filter(action="workspace.deleted").exists()


@pytest.mark.parametrize(
    ("role", "audit", "history", "restore", "undelete"),
    [
        (Role.OWNER, 200, 200, 200, 200),
        (Role.ADMIN, 200, 200, 200, 200),
        (Role.EDITOR, 403, 200, 200, 200),
        (Role.VIEWER, 403, 200, 403, 403),
        (None, 404, 404, 404, 404),
    ],
)
def test_admins_read_everything_and_viewers_the_history_of_a_link(
    role: Role | None,
    audit: int,
    history: int,
    restore: int,
    undelete: int,
    alice: NewAccount,
    marketing: Workspace,
) -> None:
    owner = key_client_in(marketing, alice.api_key)
    links = [
        owner.post("/api/urls", {"originalUrl": "https://example.com/", "title": "a"}).json()["data"]["url"]
        for _ in range(2)
    ]
    path, deleted = (f"/api/urls/{link['_id']}" for link in links)
    assert owner.put(path, {"title": "b"}).status_code == 200
    assert owner.delete(deleted).status_code == 200
    [change] = owner.get(f"{path}/history").json()["data"]["changes"]
    bob = account("bob@example.com")
    if role is not None:
        add_member(marketing, bob, role)
    clients = [key_client_in(marketing, bob.api_key), token_client_in(marketing, bob.user)]
    for client in clients:
        assert client.get("/api/audit").status_code == audit
        assert client.get(f"{path}/history").status_code == history
        assert client.post(f"{path}/history/{change['_id']}/restore").status_code == restore
    assert clients[0].post(f"{deleted}/undelete").status_code == undelete
    # In their personal workspaces, these links are unknown.
    personal = bearer_client(bob.user)
    assert personal.get(f"{path}/history").status_code == 404
    assert personal.post(f"{path}/history/{change['_id']}/restore").status_code == 404
    assert personal.post(f"{deleted}/undelete").status_code == 404
    shown = [item["objectId"] for item in personal.get("/api/audit").json()["data"]["changes"]]
    assert set(shown) <= {str(bob.user.public_id)}


def test_a_cursor_of_another_workspace_is_400(
    alice: NewAccount, api: APIClient, marketing: Workspace
) -> None:
    client = key_client_in(marketing, alice.api_key)
    for title in ("a", "b"):
        Workspace.objects.filter(pk=marketing.pk).update(name=title)
    cursor = client.get("/api/audit", {"limit": 1}).json()["data"]["pagination"]["nextCursor"]
    assert client.get("/api/audit", {"limit": 1, "cursor": cursor}).status_code == 200
    assert api.get("/api/audit", {"cursor": cursor}).status_code == 400


def subjects(client: APIClient, workspace: Workspace) -> list[tuple[str, str | None]]:
    response = client.get("/api/audit", headers={"X-Workspace": str(workspace.public_id)})
    return [(change["action"], change["subject"]) for change in response.json()["data"]["changes"]]


def test_the_history_says_whom_a_change_concerns(
    bearer: APIClient, mallory: APIClient, stranger: NewAccount, marketing: Workspace
) -> None:
    User.objects.filter(pk=stranger.user.pk).update(first_name="Mal", last_name="Ory")
    invite(bearer, marketing, email="carla@example.com")
    invite(bearer, marketing)
    invitation = invite(bearer, marketing, email="mallory@example.com")
    assert mallory.post(f"/api/invitations/{invitation['token']}/accept").status_code == 200
    path = path_of_member(marketing, stranger)
    assert bearer.patch(path, {"role": "viewer"}).status_code == 200
    assert bearer.delete(path).status_code == 200
    expected = [
        ("member.removed", "Mal Ory"),
        ("member.updated", "Mal Ory"),
        ("invitation.accepted", "Mal Ory"),
        ("member.added", "Mal Ory"),
        ("invitation.created", "Mal Ory"),
        ("invitation.created", None),
        ("invitation.created", "carla@example.com"),
    ]
    assert subjects(bearer, marketing)[: len(expected)] == expected
    User.objects.filter(pk=stranger.user.pk).delete()
    assert subjects(bearer, marketing)[0] == ("member.removed", None)


@pytest.mark.parametrize("members", [1, 4])
def test_naming_takes_as_many_queries_however_long_the_page_is(
    bearer: APIClient, marketing: Workspace, members: int
) -> None:
    for number in range(members):
        add_member(marketing, account(f"member{number}@example.com"), Role.VIEWER)
        invite(bearer, marketing, email=f"new{number}@example.com")
    with CaptureQueriesContext(connection) as queries:
        subjects(bearer, marketing)
    assert len([query for query in queries if "accounts_change" in query["sql"]]) == 2
    assert len([query for query in queries if "accounts_invitation" in query["sql"]]) == 1
