"""Keys that belong to a workspace: who manages them, what they may do, and that they outlive their creators."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts import api_keys
from accounts.api_keys import KeyOwner, NewKey, create_key
from accounts.models import Member, ScopedKey, StoredResponse, Workspace
from accounts.rights import MEMBER_SCOPES, Role, Scope
from accounts.services import NewAccount
from common.errors import RoleRequired
from links.models import Link
from testing.accounts.accounts import bearer_client, key_client, key_status
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.keys import scoped_client
from testing.accounts.workspaces import add_member, token_client_in
from testing.cases import for_each
from tests.accounts.every_role import FOR_EVERY_ROW, OWNER, TABLE, Site, join
from tests.accounts.every_role import site as site
from tests.accounts.scoped_keys.keys_api import MINIMAL, create, refused

OURS = {"belongsTo": "workspace"}
LINK = {"originalUrl": "https://example.com/"}


def key_of(workspace: Workspace, creator: NewAccount, *scopes: str) -> NewKey:
    allowed = scopes or [scope.value for scope in Scope if scope not in MEMBER_SCOPES]
    return create_key(
        workspace=workspace,
        creator=creator.user,
        name="Deploy",
        scopes=list(allowed),
        belongs_to=KeyOwner.WORKSPACE,
    )


def test_an_admin_creates_a_key_of_the_workspace(alice: NewAccount, marketing: Workspace) -> None:
    there = token_client_in(marketing, alice.user)
    key = create(there, **OURS)
    assert (key["belongsTo"], key["creator"]) == ("workspace", None)
    change = there.get("/api/audit").json()["data"]["changes"][0]
    assert (change["action"], change["after"]["belongsTo"]) == ("key.created", "workspace")
    assert change["actor"]["_id"] == str(alice.user.public_id)


def test_a_personal_workspace_has_none(bearer: APIClient) -> None:
    response = bearer.post("/api/keys", MINIMAL | OURS)
    assert refused(response, 400, "validation_error")
    assert [error["code"] for error in response.json()["errors"]] == ["personal"]
    assert ScopedKey.objects.count() == 0


@for_each("scope", sorted(MEMBER_SCOPES))
def test_it_never_has_a_scope_that_acts_for_a_member(
    scope: str, alice: NewAccount, marketing: Workspace
) -> None:
    there = token_client_in(marketing, alice.user)
    response = there.post("/api/keys", MINIMAL | OURS | {"scopes": [scope]})
    assert [error["code"] for error in response.json()["errors"]] == ["needs_member"]
    key = create(there, **OURS)
    assert refused(there.patch(f"/api/keys/{key['_id']}", {"scopes": [scope]}), 400, "validation_error")
    assert ScopedKey.objects.get().scope_list == [Scope.URLS_WRITE]


def test_only_admins_create_see_and_manage_it(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    key = create(token_client_in(marketing, alice.user), **OURS)
    path = f"/api/keys/{key['_id']}"

    def statuses(client: APIClient) -> list[int]:
        listed = client.get("/api/keys").json().get("data", {"keys": []})["keys"]
        calls = [
            client.post("/api/keys", MINIMAL | OURS),
            client.patch(path, {"name": "Other"}),
            client.post(f"{path}/rotate"),
            client.delete(path),
        ]
        return [len(listed), *(response.status_code for response in calls)]

    # In their own workspace, and in the other one.
    assert statuses(bearer_client(stranger.user)) == [0, 400, 404, 404, 404]
    assert statuses(token_client_in(marketing, stranger.user)) == [0, 404, 404, 404, 404]
    member = add_member(marketing, stranger, Role.EDITOR)
    his = token_client_in(marketing, stranger.user)
    assert statuses(his) == [0, 403, 404, 404, 404]
    assert key_status(key["apiKey"]) == 403
    Member.objects.filter(workspace=marketing, user=member.user).update(role=Role.ADMIN)
    assert statuses(his) == [1, 201, 200, 200, 200]
    assert key_status(key["apiKey"]) == 401


def test_a_former_admin_gets_no_key_by_an_old_role(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    """The role that authentication read may have ended since."""
    key = key_of(marketing, alice).key
    add_member(marketing, stranger, Role.EDITOR)
    arguments: dict[str, Any] = {"workspace": marketing, "account": stranger.user, "role": Role.ADMIN}
    with pytest.raises(RoleRequired):
        api_keys.rotate_key(**arguments, public_id=key.public_id, grace_seconds=0)
    with pytest.raises(RoleRequired):
        key_of(marketing, stranger)


def test_it_outlives_its_creator(alice: NewAccount, stranger: NewAccount, marketing: Workspace) -> None:
    add_member(marketing, stranger, Role.ADMIN)
    texts = [key_of(marketing, stranger).text, key_of(marketing, stranger).text]
    theirs = scoped_client(marketing, stranger.user)
    path = f"/api/workspaces/{marketing.public_id}/members/{stranger.user.public_id}"
    assert bearer_client(alice.user).delete(path).status_code == 200
    assert [key_status(text) for text in texts] == [200, 200]
    assert theirs.get("/api/urls").status_code == 401
    stranger.user.delete()
    assert [key_status(text) for text in texts] == [200, 200]


def test_what_it_creates_has_no_creator(alice: NewAccount, marketing: Workspace) -> None:
    key, text = key_of(marketing, alice)
    client, there = key_client(text), token_client_in(marketing, alice.user)
    link = client.post("/api/urls", LINK).json()["data"]["url"]["_id"]
    former = client.get(f"/api/urls/{link}").headers["ETag"]
    assert client.put(f"/api/urls/{link}", {"title": "Other"}).status_code == 200
    shown = there.get(f"/api/urls/{link}").json()["data"]["url"]
    assert shown["creator"] is None
    assert Link.objects.get(public_id=link).creator is None
    changes = there.get(f"/api/urls/{link}/history").json()["data"]["changes"]
    assert [(change["actor"], change["via"], change["keyId"]) for change in changes] == [
        (None, "api_key", str(key.public_id))
    ] * len(changes)
    # A conflict names it, too.
    stale = there.put(f"/api/urls/{link}", {"title": "Mine"}, headers={"if-match": former})
    assert "by a key of the workspace" in stale.json()["message"]


def test_a_retry_gets_the_stored_response(alice: NewAccount, marketing: Workspace) -> None:
    client, other = (key_client(key_of(marketing, alice).text) for _ in range(2))
    first, second = (client.post("/api/urls", LINK, headers={"idempotency-key": "a"}) for _ in range(2))
    assert (first.status_code, second.headers["Idempotent-Replayed"]) == (201, "true")
    assert second.json() == first.json()
    assert refused(
        other.post("/api/urls", LINK, headers={"idempotency-key": "a"}), 422, "idempotency_mismatch"
    )
    # The account's own Idempotency-Keys are others.
    own = key_client(alice.api_key).post("/api/urls", LINK, headers={"idempotency-key": "a"})
    assert (own.status_code, own.json()["data"] != first.json()["data"]) == (201, True)
    assert sorted(StoredResponse.objects.values_list("owner", flat=True)) == sorted(
        [alice.user.pk, marketing.pk]
    )


def test_an_emptied_workspace_can_be_deleted_with_its_keys_and_responses(
    alice: NewAccount, bearer: APIClient, marketing: Workspace
) -> None:
    key_of(marketing, alice)
    StoredResponse.objects.create(owner=marketing, key_digest=b"x" * 32, sealed=b"x")
    assert bearer.delete(f"/api/workspaces/{marketing.public_id}").status_code == 200
    assert (ScopedKey.objects.count(), StoredResponse.objects.count()) == (0, 0)


def test_it_takes_as_many_statements_as_the_key_of_a_member(alice: NewAccount, marketing: Workspace) -> None:
    counts = []
    for client in (scoped_client(marketing, alice.user), key_client(key_of(marketing, alice).text)):
        with CaptureQueriesContext(connection) as queries:
            assert client.post("/api/urls", LINK).status_code == 201
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_its_requests_count_for_the_workspace(alice: NewAccount, marketing: Workspace, settings: Any) -> None:
    settings.RATE_LIMITS = {"free": 2, "pro": 2, "enterprise": 2}
    clients = [key_client(key_of(marketing, alice).text) for _ in range(2)]
    statuses = [client.get("/api/urls").status_code for client in [*clients, clients[0]]]
    assert statuses == [200, 200, 429]


def test_members_cannot_use_up_its_limit(
    alice: NewAccount, marketing: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_keys, "MAX_KEYS", 1)
    there = token_client_in(marketing, alice.user)
    create(there)
    create(there, **OURS)
    response = there.post("/api/keys", MINIMAL | OURS)
    assert refused(response, 403, "quota_exceeded")
    assert response.json()["message"].startswith("A workspace may have at most")


@FOR_EVERY_ROW
def test_at_each_route_it_has_the_role_of_an_admin(name: str, site: Site) -> None:
    """Neither the routes about accounts nor those that act for a member are reached, and none fails."""
    row, site = TABLE[name], join(site, OWNER)
    client = key_client(key_of(Workspace.objects.get(name="Team"), site.member).text)
    response = site.call(client, name)
    if row.is_public:
        assert response.status_code == row.status
    elif row.scope in MEMBER_SCOPES or row.scope is None:
        assert response.status_code in (401, 403), response.content
    else:
        assert row.role is not None
        assert response.status_code == (row.status if Role.ADMIN.includes(row.role) else 403)
