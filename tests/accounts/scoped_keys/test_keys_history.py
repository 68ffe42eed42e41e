"""The history names keys, and changes of keys."""

from __future__ import annotations

from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from testing.accounts.accounts import bearer_client, key_client, key_status
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.keys import scoped_key
from testing.accounts.workspaces import add_member, token_client_in
from tests.accounts.scoped_keys.keys_api import changes, create, domain


def test_the_history_has_each_change_of_a_key(alice: NewAccount, bearer: APIClient) -> None:
    of_key = domain(alice.workspace)
    before = changes(bearer)
    key = create(bearer, domainId=str(of_key.public_id), expiresAt="2090-01-01")
    path = f"/api/keys/{key['_id']}"
    key_status(key["apiKey"])
    bearer.patch(path, {"name": "Other", "scopes": ["urls:read"], "domainId": None})
    bearer.patch(path, {"name": "Other"})
    bearer.post(f"{path}/rotate")
    bearer.delete(path)
    created = {
        "name": "Import",
        "scopes": ["urls:write"],
        "domainId": str(of_key.public_id),
        "onlyOwn": False,
        "expiresAt": "2090-01-01T00:00:00Z",
        "belongsTo": "member",
    }
    changed = {"name": "Other", "scopes": ["urls:read"], "domainId": None}
    assert changes(bearer)[len(before) :] == [
        ("key.created", {}, created),
        ("key.updated", {name: created[name] for name in changed}, changed),
        ("key.rotated", {}, {"graceUntil": None}),
        ("key.deleted", created | changed, {}),
    ]


def test_the_history_names_every_scope(bearer: APIClient) -> None:
    create(bearer, scopes=[scope.value for scope in Scope])
    assert changes(bearer)[-1][2]["scopes"] == [scope.value for scope in Scope]


def test_the_history_has_keys_that_end_with_a_membership(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.EDITOR)
    scoped_key(marketing, stranger.user)
    path = f"/api/workspaces/{marketing.public_id}/members/{stranger.user.public_id}"
    assert bearer_client(alice.user).delete(path).status_code == 200
    assert [action for action, _, _ in changes(token_client_in(marketing, alice.user))] == [
        "key.created",
        "key.deleted",
    ]


def test_the_history_names_the_key_of_a_change(alice: NewAccount, bearer: APIClient) -> None:
    key, text = scoped_key(alice.workspace, alice.user)
    link = bearer.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]["_id"]
    for client in (key_client(text), key_client(alice.api_key), bearer):
        assert client.put(f"/api/urls/{link}", {"title": str(id(client))}).status_code == 200
    listed = bearer.get(f"/api/urls/{link}/history").json()["data"]["changes"]
    assert [(change["via"], change["keyId"]) for change in listed] == [
        ("token", None),
        ("api_key", None),
        ("api_key", str(key.public_id)),
    ]
