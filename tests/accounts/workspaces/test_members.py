"""Workspaces, their members and invitations, through the API."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import Invitation, Member, User, Workspace
from accounts.rights.roles import Role
from accounts.services import NewAccount, set_active
from accounts.workspaces import invitations, ownership, services
from common.errors import NotFound, ServiceError
from testing.accounts.accounts import account, bearer_client
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.threads import at_once


@pytest.fixture
def marketing(alice: NewAccount) -> Workspace:
    return team(alice, "Marketing")


@pytest.fixture
def mallory(stranger: NewAccount) -> APIClient:
    """The stranger's, with a token."""
    return bearer_client(stranger.user)


def path_of(workspace: Workspace, below: str = "") -> str:
    return f"/api/workspaces/{workspace.public_id}{below}"


def path_of_member(workspace: Workspace, member: NewAccount) -> str:
    return path_of(workspace, f"/members/{member.user.public_id}")


def invitation_of(client: APIClient, workspace: Workspace, **fields: str) -> Any:
    response = client.post(path_of(workspace, "/invitations"), {"role": "editor", **fields})
    assert response.status_code == 201, response.content
    return response.json()["data"]["invitation"]


def accept(client: APIClient, token: str) -> Any:
    return client.post(f"/api/invitations/{token}/accept")


def assert_refused(response: Any, status: int, code: str) -> None:
    assert (response.status_code, response.json()["code"]) == (status, code)


def test_a_workspace_is_created_read_renamed_and_deleted(alice: NewAccount, bearer: APIClient) -> None:
    created = bearer.post("/api/workspaces", {"name": "  Marketing "})
    assert created.status_code == 201
    workspace = created.json()["data"]["workspace"]
    assert {name: workspace[name] for name in ("name", "isPersonal", "role", "plan")} == {
        "name": "Marketing",
        "isPersonal": False,
        "role": "owner",
        "plan": "pro",
    }
    path = f"/api/workspaces/{workspace['_id']}"
    assert bearer.get(path).json()["data"] == {"workspace": workspace}
    renamed = bearer.patch(path, {**workspace, "name": "Sales"}).json()["data"]["workspace"]
    assert renamed == {**workspace, "name": "Sales"}
    assert bearer.delete(path).status_code == 200
    assert_refused(bearer.get(path), 404, "not_found")
    assert list(Workspace.objects.values_list("pk", flat=True)) == [alice.user.pk]


@pytest.mark.parametrize("name", ["", " ", "x" * 101, None, 1])
def test_a_bad_name_is_400_and_creates_nothing(bearer: APIClient, name: Any) -> None:
    assert_refused(bearer.post("/api/workspaces", {"name": name}), 400, "validation_error")
    assert Workspace.objects.count() == 1


def test_lists_begin_with_the_personal_workspace(
    alice: NewAccount, bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.VIEWER)
    shown = [
        [(item["name"], item["role"], item["isPersonal"]) for item in client.get(path).json()["data"][key]]
        for client in (bearer, mallory)
        for path, key in (("/api/workspaces", "workspaces"),)
    ]
    assert shown == [
        [("Personal", "owner", True), ("Marketing", "owner", False)],
        [("Personal", "owner", True), ("Marketing", "viewer", False)],
    ]
    own = mallory.get("/api/auth/me").json()["data"]["user"]
    assert own["workspaces"] == [
        {"_id": str(stranger.user.public_id), "name": "Personal", "isPersonal": True, "role": "owner"},
        {"_id": str(marketing.public_id), "name": "Marketing", "isPersonal": False, "role": "viewer"},
    ]


def test_an_account_owns_a_limited_number_of_workspaces(settings: Settings, bearer: APIClient) -> None:
    settings.WORKSPACES_PER_ACCOUNT = 2
    answers = [bearer.post("/api/workspaces", {"name": "x"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 403]
    assert answers[2].json()["code"] == "quota_exceeded"
    settings.WORKSPACES_PER_ACCOUNT = 0
    assert bearer.post("/api/workspaces", {"name": "x"}).status_code == 201


@pytest.mark.parametrize("kind", ["link", "domain"])
def test_only_an_empty_workspace_is_deleted(
    alice: NewAccount, bearer: APIClient, marketing: Workspace, kind: str
) -> None:
    client = key_client_in(marketing, alice.api_key)
    if kind == "link":
        created = client.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]
    else:
        created = client.post("/api/domains", {"domain": "go.brand.example"}).json()["data"]
    assert_refused(bearer.delete(path_of(marketing)), 409, "workspace_not_empty")
    assert (Member.objects.filter(workspace=marketing).count(), client.get("/api/urls").status_code) == (
        1,
        200,
    )
    if kind == "link":
        client.delete(f"/api/urls/{created['url']['_id']}")
    else:
        client.delete(f"/api/domains/{created['domain']['_id']}")
    assert bearer.delete(path_of(marketing)).status_code == 200


def test_a_personal_workspace_is_neither_deleted_nor_shared(alice: NewAccount, bearer: APIClient) -> None:
    own = alice.workspace
    assert_refused(bearer.delete(path_of(own)), 409, "personal_workspace")
    invited = bearer.post(path_of(own, "/invitations"), {"role": "viewer"})
    assert_refused(invited, 409, "personal_workspace")
    assert_refused(bearer.delete(path_of_member(own, alice)), 409, "last_owner")
    assert_refused(bearer.patch(path_of_member(own, alice), {"role": "viewer"}), 409, "last_owner")


def test_members_are_listed_in_the_order_of_joining(
    alice: NewAccount, bearer: APIClient, stranger: NewAccount, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.VIEWER)
    members = bearer.get(path_of(marketing, "/members")).json()["data"]["members"]
    assert [(member["email"], member["role"]) for member in members] == [
        ("alice@example.com", "owner"),
        ("mallory@example.com", "viewer"),
    ]
    assert members[0].keys() == {"_id", "email", "firstName", "lastName", "role", "joinedAt"}


@pytest.mark.django_db(transaction=True)
def test_lists_take_the_same_number_of_queries_at_any_length(
    alice: NewAccount, bearer: APIClient, marketing: Workspace
) -> None:
    """Their lengths are limited, so they have no pages."""
    paths = ("/api/workspaces", path_of(marketing, "/members"), path_of(marketing, "/invitations"))
    counts = []
    for number in range(2):
        team(alice, f"Team {number}")
        add_member(marketing, account(f"member{number}@example.com"), Role.VIEWER)
        invitation_of(bearer, marketing)
        for path in paths:
            with CaptureQueriesContext(connection) as queries:
                [listed] = bearer.get(path).json()["data"].values()
            counts.append((len(listed), len(queries)))
    # The credential and the list; below a workspace, also the membership.
    assert counts == [(3, 2), (2, 3), (1, 3), (4, 2), (3, 3), (2, 3)]


def test_roles_are_changed(
    bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.VIEWER)
    for role in ("editor", "admin", "owner", "viewer"):
        response = bearer.patch(path_of_member(marketing, stranger), {"role": role})
        assert (response.status_code, response.json()["data"]["member"]["role"]) == (200, role)
    assert_refused(
        bearer.patch(path_of_member(marketing, stranger), {"role": "king"}), 400, "validation_error"
    )
    assert_refused(mallory.patch(path_of(marketing), {"name": "Mine"}), 403, "role_required")


def test_only_owners_decide_who_is_an_owner(
    alice: NewAccount, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.ADMIN)
    for response in (
        mallory.patch(path_of_member(marketing, stranger), {"role": "owner"}),
        mallory.patch(path_of_member(marketing, alice), {"role": "viewer"}),
        mallory.delete(path_of_member(marketing, alice)),
        mallory.post(path_of(marketing, "/invitations"), {"role": "owner"}),
    ):
        assert_refused(response, 403, "role_required")
        assert response.json()["data"] == {"role": "owner"}
    roles = Member.objects.filter(workspace=marketing).values_list("user__email", "role")
    assert dict(roles) == {"alice@example.com": "owner", "mallory@example.com": "admin"}


def test_disabled_owner_is_not_enough(
    alice: NewAccount, bearer: APIClient, stranger: NewAccount, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.OWNER)
    User.objects.filter(pk=stranger.user.pk).update(is_active=False)
    assert_refused(bearer.delete(path_of_member(marketing, alice)), 409, "last_owner")
    assert_refused(bearer.patch(path_of_member(marketing, alice), {"role": "admin"}), 409, "last_owner")
    # The disabled owner can be removed.
    assert bearer.delete(path_of_member(marketing, stranger)).status_code == 200


def test_every_member_can_leave_but_not_the_last_owner(
    alice: NewAccount, bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.VIEWER)
    assert_refused(mallory.delete(path_of_member(marketing, alice)), 403, "role_required")
    assert mallory.delete(path_of_member(marketing, stranger)).status_code == 200
    assert_refused(mallory.get(path_of(marketing)), 404, "not_found")
    assert_refused(bearer.delete(path_of_member(marketing, alice)), 409, "last_owner")
    assert_refused(bearer.patch(path_of_member(marketing, alice), {"role": "admin"}), 409, "last_owner")
    assert bearer.patch(path_of_member(marketing, alice), {"role": "owner"}).status_code == 200


def test_an_unknown_member_is_404(bearer: APIClient, stranger: NewAccount, marketing: Workspace) -> None:
    assert_refused(bearer.delete(path_of_member(marketing, stranger)), 404, "not_found")
    assert_refused(
        bearer.patch(path_of(marketing, f"/members/{uuid4()}"), {"role": "viewer"}), 404, "not_found"
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["leave", "step down"])
def test_of_two_owners_who_go_at_once_one_stays(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace, way: str
) -> None:
    add_member(marketing, stranger, Role.OWNER)

    def go(user: Any) -> str:
        try:
            if way == "leave":
                services.remove_member(workspace=marketing, actor=user, member_id=user.public_id)
            else:
                services.change_role(
                    workspace=marketing, actor=user, member_id=user.public_id, role=Role.VIEWER
                )
        except ServiceError as refusal:
            return refusal.code
        return "gone"

    outcomes = at_once([partial(go, user) for user in (alice.user, stranger.user)])
    assert Counter(outcomes) == {"gone": 1, "last_owner": 1}
    assert Member.objects.filter(workspace=marketing, role=Role.OWNER).count() == 1


def test_an_invitation_lets_an_account_join_once(
    bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    invitation = invitation_of(bearer, marketing, role="editor")
    listed = bearer.get(path_of(marketing, "/invitations")).json()["data"]["invitations"]
    token = invitation.pop("token")
    assert listed == [invitation]
    joined = accept(mallory, token)
    assert joined.status_code == 200
    workspace = joined.json()["data"]["workspace"]
    assert (workspace["_id"], workspace["role"]) == (str(marketing.public_id), "editor")
    another = bearer_client(account("third@example.com").user)
    assert_refused(accept(another, token), 404, "not_found")
    assert bearer.get(path_of(marketing, "/invitations")).json()["data"]["invitations"] == []


def test_the_database_holds_no_token(bearer: APIClient, marketing: Workspace) -> None:
    token = invitation_of(bearer, marketing)["token"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT i::text FROM accounts_invitation i")
        [(row,)] = cursor.fetchall()
    assert token not in row
    assert token.encode().hex() not in row


def test_an_invitation_expires_after_seven_days(
    bearer: APIClient, mallory: APIClient, marketing: Workspace
) -> None:
    invitation = invitation_of(bearer, marketing)
    stored = Invitation.objects.get()
    assert timedelta(days=6, hours=23) < stored.expires_at - stored.created_at <= timedelta(days=7)
    Invitation.objects.update(expires_at=Now())
    assert_refused(accept(mallory, invitation["token"]), 404, "not_found")
    assert bearer.get(path_of(marketing, "/invitations")).json()["data"]["invitations"] == []
    invitation_of(bearer, marketing)
    assert Invitation.objects.count() == 1


def test_an_invitation_with_an_address_is_for_that_account_only(
    bearer: APIClient, mallory: APIClient, marketing: Workspace
) -> None:
    token = invitation_of(bearer, marketing, email="Grace@Example.com")["token"]
    assert_refused(accept(mallory, token), 403, "invitation_for_another")
    grace = bearer_client(account("grace@example.com").user)
    assert accept(grace, token).status_code == 200


def test_a_member_cannot_accept_and_keeps_the_role(bearer: APIClient, marketing: Workspace) -> None:
    token = invitation_of(bearer, marketing, role="viewer")["token"]
    assert_refused(accept(bearer, token), 409, "already_member")
    assert Member.objects.get(workspace=marketing).role == "owner"
    assert Invitation.objects.count() == 1


def test_a_withdrawn_invitation_does_not_work(
    bearer: APIClient, mallory: APIClient, marketing: Workspace
) -> None:
    invitation = invitation_of(bearer, marketing)
    path = path_of(marketing, f"/invitations/{invitation['_id']}")
    assert_refused(mallory.delete(path), 404, "not_found")
    assert bearer.delete(path).status_code == 200
    assert_refused(bearer.delete(path), 404, "not_found")
    assert_refused(accept(mallory, invitation["token"]), 404, "not_found")


@pytest.mark.parametrize("way", ["removed", "demoted"])
def test_who_may_no_longer_invite_loses_pending_invitations(
    way: str, bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.ADMIN)
    invitation_of(mallory, marketing)
    path = path_of_member(marketing, stranger)
    response = bearer.delete(path) if way == "removed" else bearer.patch(path, {"role": "editor"})
    assert (response.status_code, Invitation.objects.count()) == (200, 0)


def test_demoted_owner_loses_pending_invitations_of_owners(
    bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.OWNER)
    for client in (bearer, mallory):
        invitation_of(client, marketing, role="owner")
    kept = invitation_of(mallory, marketing, role="admin")
    owner_invitation = invitation_of(mallory, marketing, role="owner")
    assert bearer.patch(path_of_member(marketing, stranger), {"role": "admin"}).status_code == 200
    left = Invitation.objects.order_by("id").values_list("invited_by__email", "role")
    assert list(left) == [("alice@example.com", "owner"), ("mallory@example.com", "admin")]
    third = bearer_client(account("third@example.com").user)
    assert_refused(accept(third, owner_invitation["token"]), 404, "not_found")
    assert accept(third, kept["token"]).status_code == 200


def test_invitation_of_disabled_account_does_not_work(
    alice: NewAccount, bearer: APIClient, mallory: APIClient, marketing: Workspace
) -> None:
    address = "grace@example.com"
    token = invitation_of(bearer, marketing, email=address)["token"]
    open_token = invitation_of(bearer, marketing)["token"]
    set_active(user=alice.user, is_active=False)
    assert_refused(accept(mallory, open_token), 404, "not_found")
    assert (invitations.find_invitation(token), invitations.is_invited(address)) == (None, False)
    set_active(user=alice.user, is_active=True)
    assert (invitations.find_invitation(token) is None, invitations.is_invited(address)) == (False, True)
    assert accept(mallory, open_token).status_code == 200


def test_promotion_beyond_the_limit_of_owned_workspaces_is_403(
    settings: Settings,
    alice: NewAccount,
    bearer: APIClient,
    stranger: NewAccount,
    marketing: Workspace,
) -> None:
    settings.WORKSPACES_PER_ACCOUNT = 1
    team(stranger)
    add_member(marketing, stranger, Role.ADMIN)
    path = path_of_member(marketing, stranger)
    assert_refused(bearer.patch(path, {"role": "owner"}), 403, "quota_exceeded")
    assert Member.objects.get(workspace=marketing, user=stranger.user).role == "admin"
    # An owner stays an owner, whatever the limit.
    assert bearer.patch(path_of_member(marketing, alice), {"role": "owner"}).status_code == 200
    settings.WORKSPACES_PER_ACCOUNT = 2
    assert bearer.patch(path, {"role": "owner"}).status_code == 200


def test_acceptance_as_owner_beyond_the_limit_of_owned_workspaces_is_403(
    settings: Settings, bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    settings.WORKSPACES_PER_ACCOUNT = 1
    team(stranger)
    as_owner = invitation_of(bearer, marketing, role="owner")["token"]
    assert_refused(accept(mallory, as_owner), 403, "quota_exceeded")
    assert not Member.objects.filter(workspace=marketing, user=stranger.user).exists()
    settings.WORKSPACES_PER_ACCOUNT = 2
    assert accept(mallory, as_owner).status_code == 200


def test_acceptance_as_admin_ignores_the_limit_of_owned_workspaces(
    settings: Settings, bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    settings.WORKSPACES_PER_ACCOUNT = 1
    team(stranger)
    assert accept(mallory, invitation_of(bearer, marketing, role="admin")["token"]).status_code == 200


def test_pending_invitations_members_and_memberships_are_limited(
    bearer: APIClient, mallory: APIClient, marketing: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invitations, "MAX_PENDING", 1)
    token = invitation_of(bearer, marketing)["token"]
    refused = bearer.post(path_of(marketing, "/invitations"), {"role": "viewer"})
    assert_refused(refused, 403, "quota_exceeded")
    monkeypatch.setattr(invitations, "MAX_MEMBERS", 1)
    assert_refused(accept(mallory, token), 403, "quota_exceeded")
    monkeypatch.setattr(invitations, "MAX_MEMBERS", 2)
    monkeypatch.setattr(ownership, "MAX_MEMBERSHIPS", 1)
    assert_refused(accept(mallory, token), 403, "quota_exceeded")
    assert_refused(mallory.post("/api/workspaces", {"name": "x"}), 403, "quota_exceeded")
    monkeypatch.setattr(ownership, "MAX_MEMBERSHIPS", 2)
    assert accept(mallory, token).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_an_invitation_accepted_at_once_admits_one(alice: NewAccount, marketing: Workspace) -> None:
    invited = [account(f"invited{number}@example.com").user for number in range(4)]
    token = invitations.invite(workspace=marketing, inviter=alice.user, role=Role.VIEWER).token

    def join(user: Any) -> bool:
        try:
            invitations.accept(account=user, token=token)
        except NotFound:
            return False
        return True

    assert Counter(at_once([partial(join, user) for user in invited])) == {True: 1, False: 3}
    assert Member.objects.filter(workspace=marketing).count() == 2
