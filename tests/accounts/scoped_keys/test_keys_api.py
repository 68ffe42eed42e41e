"""The calls under /api/keys."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts import api_keys
from accounts.models import ScopedKey, Workspace
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from common.rest.access import Access
from domains.views import DomainViewSet
from testing.accounts.accounts import key_status
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.keys import scoped_client
from testing.accounts.workspaces import add_member, token_client_in
from testing.cases import for_each
from tests.accounts.scoped_keys.keys_api import MINIMAL, UNKNOWN, create, domain, only, refused


def test_a_key_is_created_and_shown_once(alice: NewAccount, bearer: APIClient) -> None:
    response = bearer.post("/api/keys", {"name": " Import ", "scopes": ["urls:write", "urls:read"]})
    assert response.json()["message"] == "Key created successfully."
    key = response.json()["data"]["key"]
    text = key.pop("apiKey")
    assert api_keys.is_well_formed(text)
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
        "issuer": None,
        "belongsTo": "member",
        "creator": {
            "_id": str(alice.user.public_id),
            "email": "alice@example.com",
            "firstName": "Ada",
            "lastName": "Lovelace",
        },
    }
    assert key_status(text) == 200
    assert only(bearer) == key | {"lastUsedAt": only(bearer)["lastUsedAt"]}
    assert only(bearer)["lastUsedAt"] is not None


def test_the_database_contains_only_the_digest(bearer: APIClient) -> None:
    text = create(bearer)["apiKey"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT k::text, k.digest FROM accounts_scopedkey k")
        [(row, digest)] = cursor.fetchall()
    assert text not in row
    assert text[7:-6] not in row
    assert bytes(digest) == api_keys.digest(text)


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
    assert [key_status(alice.api_key), key_status(new), key_status(scoped)] == [401, 200, 403]


@for_each(
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
        ({"scopes": ["urls:read"] * 11}, "scopes", "max_length"),
        ({"onlyOwn": None}, "onlyOwn", "null"),
        ({"onlyOwn": 1}, "onlyOwn", "invalid"),
        ({"expiresAt": "soon"}, "expiresAt", "invalid"),
        ({"expiresAt": "2001-01-01"}, "expiresAt", "past"),
        ({"scopes": ["domains:write"], "onlyOwn": True}, "scopes", "limited"),
        ({"scopes": ["urls:read", "members:write"], "onlyOwn": True}, "scopes", "limited"),
        ({"scopes": ["members:read"], "onlyOwn": True}, "scopes", "limited"),
        ({"scopes": ["urls:write", "urls:move"], "onlyOwn": True}, "scopes", "limited"),
        ({"scopes": ["keys:write"]}, "scopes", "invalid_choice"),
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
    assert api_keys.MAX_KEYS == 50
    monkeypatch.setattr(api_keys, "MAX_KEYS", 2)
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
    assert key_status(text) == 200
    changes: dict[str, Any] = {"name": "Other", "scopes": ["urls:write"], "onlyOwn": True}
    response = bearer.patch(f"/api/keys/{key['_id']}", changes)
    assert (response.status_code, response.json()["message"]) == (200, "Key updated successfully.")
    assert response.json()["data"]["key"] == key | changes | {
        "lastUsedAt": response.json()["data"]["key"]["lastUsedAt"]
    }
    assert key_status(text) == 403
    bearer.patch(f"/api/keys/{key['_id']}", {"expiresAt": "2001-01-01"})
    assert key_status(text) == 401


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
    assert key_status(key["apiKey"]) == 200
    assert bearer.delete(f"/api/keys/{key['_id']}").json()["message"] == "Key deleted successfully."
    assert key_status(key["apiKey"]) == 401
    assert bearer.delete(f"/api/keys/{key['_id']}").status_code == 404


def test_a_stored_response_belongs_to_its_key(alice: NewAccount) -> None:
    body, headers = {"originalUrl": "https://example.com/"}, {"idempotency-key": "once"}
    first, second = (scoped_client(alice.workspace, alice.user, Scope.URLS_WRITE) for _ in range(2))
    created = first.post("/api/urls", body, headers=headers)
    assert first.post("/api/urls", body, headers=headers).content == created.content
    assert refused(second.post("/api/urls", body, headers=headers), 422, "idempotency_mismatch")


def test_an_action_without_a_scope_is_refused(monkeypatch: pytest.MonkeyPatch, alice: NewAccount) -> None:
    monkeypatch.setattr(DomainViewSet, "access", {"list": Access(Role.VIEWER, None)})
    client = scoped_client(alice.workspace, alice.user)
    assert refused(client.get("/api/domains"), 403, "key_limited")
