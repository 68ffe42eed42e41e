"""The calls under /api/keys."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.credentials import keys
from accounts.models import Member, ScopedKey, User, Workspace
from accounts.rights.roles import Role
from accounts.rights.scopes import Scope
from accounts.scoped_keys import services
from accounts.services import NewAccount
from domains.models import Domain
from domains.views import DomainViewSet
from shortener_project.configuration.checks import check_scopes
from testing.accounts.accounts import bearer_client, key_client
from testing.accounts.keys import scoped_client, scoped_key
from testing.accounts.workspaces import add_member, team, token_client_in

UNKNOWN = "01890000-0000-7000-8000-000000000000"
MINIMAL: dict[str, Any] = {"name": "Import", "scopes": ["urls:write"]}


@pytest.fixture
def marketing(alice: NewAccount) -> Workspace:
    return team(alice, "Marketing")


def domain(owner: Workspace, host: str = "go.example") -> Domain:
    return Domain.objects.create(owner=owner, domain=host, host=host, status="active")


def create(client: APIClient, **fields: Any) -> dict[str, Any]:
    response = client.post("/api/keys", MINIMAL | fields)
    assert response.status_code == 201, response.content
    key: dict[str, Any] = response.json()["data"]["key"]
    return key


def only(client: APIClient) -> dict[str, Any]:
    [key] = client.get("/api/keys").json()["data"]["keys"]
    return dict(key)


def works(text: str) -> int:
    status: int = key_client(text).get("/api/urls").status_code
    return status


def refused(response: Any, status: int, code: str) -> bool:
    return (response.status_code, response.json()["code"]) == (status, code)


def test_a_key_is_created_and_shown_once(alice: NewAccount, bearer: APIClient) -> None:
    response = bearer.post("/api/keys", {"name": " Import ", "scopes": ["urls:write", "urls:read"]})
    assert response.json()["message"] == "Key created successfully."
    key = response.json()["data"]["key"]
    text = key.pop("apiKey")
    assert keys.is_well_formed(text)
    assert text.startswith("sl_key_")
    row = ScopedKey.objects.get()
    assert key == {
        "_id": str(row.public_id),
        "name": "Import",
        "scopes": ["urls:read", "urls:write"],
        "domainId": None,
        "onlyOwn": False,
        "expiresAt": None,
        "lastUsedAt": None,
        "graceUntil": None,
        "createdAt": key["createdAt"],
        "creator": {
            "_id": str(alice.user.public_id),
            "email": "alice@example.com",
            "firstName": "Ada",
            "lastName": "Lovelace",
        },
    }
    assert works(text) == 200
    assert only(bearer) == key | {"lastUsedAt": only(bearer)["lastUsedAt"]}
    assert only(bearer)["lastUsedAt"] is not None


def test_the_database_contains_only_the_digest(bearer: APIClient) -> None:
    text = create(bearer)["apiKey"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT k::text, k.digest FROM accounts_scopedkey k")
        [(row, digest)] = cursor.fetchall()
    assert text not in row
    assert text[7:-6] not in row
    assert bytes(digest) == keys.digest(text)


def test_all_fields_are_stored(alice: NewAccount, bearer: APIClient) -> None:
    of_key = domain(alice.workspace)
    fields = {"domainId": str(of_key.public_id), "onlyOwn": True, "expiresAt": "2090-01-01T00:00:00Z"}
    key = create(bearer, **fields)
    assert {name: key[name] for name in fields} == fields


def test_the_contracts_key_is_unchanged(alice: NewAccount, bearer: APIClient) -> None:
    create(bearer)
    assert bearer.get("/api/auth/api-key").json() == {"success": True, "apiKey": alice.api_key}
    scoped = create(bearer)["apiKey"]
    new = bearer.post("/api/auth/regenerate-api-key").json()["apiKey"]
    assert [works(alice.api_key), works(new), works(scoped)] == [401, 200, 403]


@pytest.mark.parametrize(
    ("fields", "field", "code"),
    [
        ({"name": ""}, "name", "blank"),
        ({"name": "  "}, "name", "blank"),
        ({"name": "x" * 101}, "name", "max_length"),
        ({"name": None}, "name", "null"),
        ({"scopes": []}, "scopes", "min_length"),
        ({"scopes": None}, "scopes", "null"),
        ({"scopes": "urls:read"}, "scopes", "not_a_list"),
        ({"scopes": ["urls:read", "x"]}, "scopes.1", "invalid_choice"),
        ({"scopes": ["URLS:READ"]}, "scopes.0", "invalid_choice"),
        ({"scopes": ["urls:read"] * 9}, "scopes", "max_length"),
        ({"onlyOwn": None}, "onlyOwn", "null"),
        ({"onlyOwn": 1}, "onlyOwn", "invalid"),
        ({"expiresAt": "soon"}, "expiresAt", "invalid"),
        ({"expiresAt": "2001-01-01"}, "expiresAt", "past"),
        ({"scopes": ["domains:write"], "onlyOwn": True}, "scopes", "limited"),
        ({"scopes": ["urls:read", "members:write"], "onlyOwn": True}, "scopes", "limited"),
    ],
)
def test_invalid_fields_are_refused(fields: dict[str, Any], field: str, code: str, bearer: APIClient) -> None:
    response = bearer.post("/api/keys", MINIMAL | fields)
    [error] = response.json()["errors"]
    assert (response.status_code, error["field"].split(".")[0], error["code"]) == (
        400,
        field.split(".", maxsplit=1)[0],
        code,
    )
    assert ScopedKey.objects.count() == 0


@pytest.mark.parametrize("named", [UNKNOWN, "base", "", "x", "stranger"])
def test_the_domain_must_be_one_of_the_workspace(named: str, bearer: APIClient, stranger: NewAccount) -> None:
    text = str(domain(stranger.workspace).public_id) if named == "stranger" else named
    response = bearer.post("/api/keys", MINIMAL | {"domainId": text})
    assert response.status_code == (400 if text == "" else 404)
    assert ScopedKey.objects.count() == 0


def test_member_has_at_most_fifty_keys_in_a_workspace(
    alice: NewAccount,
    bearer: APIClient,
    stranger: NewAccount,
    marketing: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert services.MAX_KEYS == 50
    monkeypatch.setattr(services, "MAX_KEYS", 2)
    create(bearer)
    create(bearer)
    assert refused(bearer.post("/api/keys", MINIMAL), 403, "quota_exceeded")
    add_member(marketing, stranger, Role.VIEWER)
    viewer, owner = (token_client_in(marketing, account.user) for account in (stranger, alice))
    create(viewer)
    create(viewer)
    assert refused(viewer.post("/api/keys", MINIMAL), 403, "quota_exceeded")
    # The keys of the viewer do not count for the owner.
    create(owner)
    create(owner)
    assert refused(owner.post("/api/keys", MINIMAL), 403, "quota_exceeded")
    assert ScopedKey.objects.count() == 6


def test_changes_are_in_force_at_once(alice: NewAccount, bearer: APIClient) -> None:
    key = create(bearer, scopes=["urls:read"])
    text = key.pop("apiKey")
    assert works(text) == 200
    changes: dict[str, Any] = {"name": "Other", "scopes": ["urls:write"], "onlyOwn": True}
    response = bearer.patch(f"/api/keys/{key['_id']}", changes)
    assert (response.status_code, response.json()["message"]) == (200, "Key updated successfully.")
    assert response.json()["data"]["key"] == key | changes | {
        "lastUsedAt": response.json()["data"]["key"]["lastUsedAt"]
    }
    assert works(text) == 403
    bearer.patch(f"/api/keys/{key['_id']}", {"expiresAt": "2001-01-01"})
    assert works(text) == 401


def test_the_whole_object_can_be_sent_back(bearer: APIClient) -> None:
    create(bearer)
    key = only(bearer)
    response = bearer.patch(f"/api/keys/{key['_id']}", key)
    assert (response.status_code, response.json()["data"]["key"]) == (200, key)
    assert "warnings" not in response.json()


def test_a_change_cannot_combine_a_limit_with_a_scope_of_the_workspace(bearer: APIClient) -> None:
    key = create(bearer, scopes=["domains:write"])
    response = bearer.patch(f"/api/keys/{key['_id']}", {"name": "x", "onlyOwn": True})
    assert (response.status_code, response.json()["errors"][0]["code"]) == (400, "limited")
    assert (only(bearer)["name"], only(bearer)["onlyOwn"]) == ("Import", False)


def test_a_deleted_key_is_refused_at_once(bearer: APIClient) -> None:
    key = create(bearer, scopes=["urls:read"])
    assert works(key["apiKey"]) == 200
    assert bearer.delete(f"/api/keys/{key['_id']}").json()["message"] == "Key deleted successfully."
    assert works(key["apiKey"]) == 401
    assert bearer.delete(f"/api/keys/{key['_id']}").status_code == 404


def test_rotation_replaces_the_key_at_once(bearer: APIClient) -> None:
    key = create(bearer, scopes=["urls:read"])
    response = bearer.post(f"/api/keys/{key['_id']}/rotate")
    rotated = response.json()["data"]["key"]
    assert (response.status_code, rotated["_id"], rotated["graceUntil"]) == (200, key["_id"], None)
    assert [works(key["apiKey"]), works(rotated["apiKey"])] == [401, 200]


def test_the_former_key_works_within_the_grace(bearer: APIClient) -> None:
    key = create(bearer, scopes=["urls:read"])
    rotated = bearer.post(f"/api/keys/{key['_id']}/rotate", {"graceSeconds": 3600}).json()["data"]["key"]
    assert rotated["graceUntil"] is not None
    assert [works(key["apiKey"]), works(rotated["apiKey"])] == [200, 200]
    ScopedKey.objects.update(previous_until="2001-01-01T00:00:00Z")
    assert [works(key["apiKey"]), works(rotated["apiKey"])] == [401, 200]


def test_a_second_rotation_ends_the_first_key(bearer: APIClient) -> None:
    first = create(bearer, scopes=["urls:read"])
    path, grace = f"/api/keys/{first['_id']}/rotate", {"graceSeconds": 3600}
    second = bearer.post(path, grace).json()["data"]["key"]
    third = bearer.post(path, grace).json()["data"]["key"]
    assert [works(key["apiKey"]) for key in (first, second, third)] == [401, 200, 200]
    bearer.post(path)
    assert [works(key["apiKey"]) for key in (first, second, third)] == [401, 401, 401]


def test_a_key_within_the_grace_has_the_current_scopes(bearer: APIClient) -> None:
    key = create(bearer, scopes=["urls:read"])
    bearer.post(f"/api/keys/{key['_id']}/rotate", {"graceSeconds": 3600})
    bearer.patch(f"/api/keys/{key['_id']}", {"scopes": ["urls:write"]})
    assert works(key["apiKey"]) == 403


@pytest.mark.parametrize("grace", [-1, 604_801, "60", 1.5, None])
def test_an_invalid_grace_changes_nothing(grace: Any, bearer: APIClient) -> None:
    key = create(bearer, scopes=["urls:read"])
    response = bearer.post(f"/api/keys/{key['_id']}/rotate", {"graceSeconds": grace})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (400, "graceSeconds")
    assert works(key["apiKey"]) == 200


def test_a_stranger_reaches_no_key(alice: NewAccount, bearer: APIClient, stranger: NewAccount) -> None:
    key = create(bearer, scopes=["urls:read"])
    client = bearer_client(stranger.user)
    assert client.get("/api/keys").json()["data"]["keys"] == []
    for identifier in (key["_id"], UNKNOWN):
        path = f"/api/keys/{identifier}"
        calls = [client.patch(path, {"name": "x"}), client.delete(path), client.post(f"{path}/rotate")]
        assert [response.status_code for response in calls] == [404, 404, 404]
    assert works(key["apiKey"]) == 200


def test_the_keys_of_a_team_are_those_of_its_workspace(
    alice: NewAccount, bearer: APIClient, marketing: Workspace
) -> None:
    there = token_client_in(marketing, alice.user)
    key = create(there, scopes=["urls:read"])
    assert bearer.get("/api/keys").json()["data"]["keys"] == []
    assert bearer.delete(f"/api/keys/{key['_id']}").status_code == 404
    assert only(there)["_id"] == key["_id"]


def test_members_see_their_own_keys_and_admins_all(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    member = add_member(marketing, stranger, Role.EDITOR)
    hers, his = token_client_in(marketing, alice.user), token_client_in(marketing, stranger.user)
    of_alice, of_member = create(hers), create(his)

    def listed(client: APIClient) -> list[str]:
        return [key["_id"] for key in client.get("/api/keys").json()["data"]["keys"]]

    assert listed(hers) == [of_member["_id"], of_alice["_id"]]
    assert listed(his) == [of_member["_id"]]
    assert his.delete(f"/api/keys/{of_alice['_id']}").status_code == 404
    # An admin revokes the keys of others, and cannot act in their names.
    path = f"/api/keys/{of_member['_id']}"
    assert refused(hers.post(f"{path}/rotate"), 403, "key_of_another")
    assert refused(hers.patch(path, {"scopes": ["urls:read"]}), 403, "key_of_another")
    assert hers.delete(path).status_code == 200
    Member.objects.filter(user=member.user, workspace=marketing).update(role=Role.ADMIN)
    assert listed(his) == [of_alice["_id"]]


def test_a_list_takes_the_same_number_of_queries_for_many_keys(alice: NewAccount, bearer: APIClient) -> None:
    counts = []
    for number in range(3):
        scoped_key(alice.workspace, alice.user, domain_id=domain(alice.workspace, f"d{number}.example").pk)
        with CaptureQueriesContext(connection) as queries:
            assert len(bearer.get("/api/keys").json()["data"]["keys"]) == number + 1
        counts.append(len(queries))
    # The credential, the page, its length and the domains.
    assert counts == [4, 4, 4]


def test_a_list_has_pages(alice: NewAccount, bearer: APIClient) -> None:
    names = [str(scoped_key(alice.workspace, alice.user).key.public_id) for _ in range(3)]
    pages = [bearer.get("/api/keys", {"page": page, "limit": 2}).json()["data"] for page in (1, 2, 3)]
    assert [[key["_id"] for key in page["keys"]] for page in pages] == [names[:0:-1], names[:1], []]
    assert [page["pagination"] for page in pages] == [
        {"page": page, "limit": 2, "total": 3, "pages": 2} for page in (1, 2, 3)
    ]
    assert refused(bearer.get("/api/keys", {"limit": 101}), 400, "validation_error")


@pytest.mark.parametrize("method", ["get", "post"])
def test_no_key_manages_keys(method: str, alice: NewAccount, api: APIClient) -> None:
    for client in (api, scoped_client(alice.workspace, alice.user)):
        response = getattr(client, method)("/api/keys")
        assert refused(response, 401, "not_authenticated")
        assert response.json()["message"].startswith("This endpoint takes a Bearer token")


def test_a_key_in_the_header_of_tokens_is_refused(alice: NewAccount) -> None:
    text = scoped_key(alice.workspace, alice.user).text
    for header in (text, f"Bearer {text}"):
        client = APIClient(headers={"host": "sho.rt", "authorization": header})
        assert refused(client.get("/api/urls"), 401, "not_authenticated")


def test_the_end_of_a_membership_deletes_the_keys(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.EDITOR)
    text = scoped_key(marketing, stranger.user, Scope.URLS_READ).text
    own = scoped_key(stranger.workspace, stranger.user, Scope.URLS_READ).text
    assert [works(text), works(own)] == [200, 200]
    path = f"/api/workspaces/{marketing.public_id}/members/{stranger.user.public_id}"
    assert bearer_client(alice.user).delete(path).status_code == 200
    assert [works(text), works(own)] == [401, 200]
    # A new membership does not bring the key back.
    add_member(marketing, stranger, Role.OWNER)
    assert works(text) == 401


def test_a_disabled_account_has_no_key(alice: NewAccount) -> None:
    text = scoped_key(alice.workspace, alice.user, Scope.URLS_READ).text
    User.objects.filter(pk=alice.user.pk).update(is_active=False)
    assert works(text) == 401


def test_the_deletion_of_a_domain_deletes_its_keys(alice: NewAccount, bearer: APIClient) -> None:
    of_key = domain(alice.workspace)
    text = scoped_key(alice.workspace, alice.user, Scope.URLS_READ, domain_id=of_key.pk).text
    assert works(text) == 200
    assert bearer.delete(f"/api/domains/{of_key.public_id}").status_code == 200
    assert works(text) == 401
    assert ScopedKey.objects.count() == 0


def test_the_deletion_of_a_workspace_deletes_its_keys(
    alice: NewAccount, bearer: APIClient, marketing: Workspace
) -> None:
    scoped_key(marketing, alice.user)
    assert bearer.delete(f"/api/workspaces/{marketing.public_id}").status_code == 200
    assert ScopedKey.objects.count() == 0


def changes(client: APIClient) -> list[tuple[str, Any, Any]]:
    """The history of keys, oldest first."""
    listed = client.get("/api/audit").json()["data"]["changes"]
    return [
        (change["action"], change["before"], change["after"])
        for change in reversed(listed)
        if change["action"].startswith("key.")
    ]


def test_the_history_has_each_change_of_a_key(alice: NewAccount, bearer: APIClient) -> None:
    of_key = domain(alice.workspace)
    before = changes(bearer)
    key = create(bearer, domainId=str(of_key.public_id), expiresAt="2090-01-01")
    path = f"/api/keys/{key['_id']}"
    works(key["apiKey"])
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


def test_a_stored_response_belongs_to_its_key(alice: NewAccount) -> None:
    body, headers = {"originalUrl": "https://example.com/"}, {"idempotency-key": "once"}
    first, second = (scoped_client(alice.workspace, alice.user, Scope.URLS_WRITE) for _ in range(2))
    created = first.post("/api/urls", body, headers=headers)
    assert first.post("/api/urls", body, headers=headers).content == created.content
    assert refused(second.post("/api/urls", body, headers=headers), 422, "idempotency_mismatch")


def test_every_action_that_takes_keys_declares_a_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_scopes() == []
    monkeypatch.setattr(DomainViewSet, "scopes", {**DomainViewSet.scopes})
    del DomainViewSet.scopes["verify"]
    assert [error.msg for error in check_scopes()] == ["DomainViewSet.verify is not in the view's scopes."]


def test_an_action_without_a_scope_is_refused(monkeypatch: pytest.MonkeyPatch, alice: NewAccount) -> None:
    monkeypatch.setattr(DomainViewSet, "scopes", {})
    client = scoped_client(alice.workspace, alice.user)
    assert refused(client.get("/api/domains"), 403, "key_limited")
