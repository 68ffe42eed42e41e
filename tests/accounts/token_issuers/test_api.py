"""The API of token issuers: what it accepts, who may use it, and what else shows them."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts import api_keys
from accounts.models import ScopedKey, Workspace
from accounts.rights import Role
from accounts.services import NewAccount
from domains.models import Domain
from testing.accounts.accounts import bearer_client
from testing.accounts.fixtures import alice as alice
from testing.accounts.fixtures import mallory as mallory
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.issuers import Issuer, public_jwk, rsa_key
from testing.accounts.workspaces import add_member, token_client_in
from testing.cases import for_each
from testing.events.stored import listen, stored
from tests.accounts.every_role import TOKEN_ISSUER

PATH = "/api/token-issuers"
PRIVATE = {**TOKEN_ISSUER["jwks"]["keys"][0], "d": "x"}
SHORT = {**public_jwk(rsa_key(), "a"), "n": public_jwk(rsa_key(), "a")["n"][:100]}

CURVE = public_jwk(ec.generate_private_key(ec.SECP521R1()), "a")


@pytest.fixture
def there(alice: NewAccount, marketing: Workspace) -> APIClient:
    return token_client_in(marketing, alice.user)


def create(client: APIClient, **fields: Any) -> dict[str, Any]:
    response = client.post(PATH, TOKEN_ISSUER | fields)
    assert response.status_code == 201, response.content
    issuer: dict[str, Any] = response.json()["data"]["issuer"]
    assert response.headers["Location"] == f"{PATH}/{issuer['_id']}"
    return issuer


def errors(response: Any) -> list[tuple[str, str]]:
    assert response.status_code == 400, response.content
    return [(error["field"], error["code"]) for error in response.json()["errors"]]


def test_it_is_shown_changed_and_deleted(there: APIClient, marketing: Workspace, settings: Settings) -> None:
    brand = Domain.objects.create(owner=marketing, domain="a.example", host="a.example", status="active")
    issuer = create(there, domainId=str(brand.public_id), onlyOwn=True)
    assert issuer == {
        "_id": issuer["_id"],
        **TOKEN_ISSUER,
        "domainId": str(brand.public_id),
        "onlyOwn": True,
        "expiresAt": None,
        "lastUsedAt": None,
        "createdAt": issuer["createdAt"],
    }
    path = f"{PATH}/{issuer['_id']}"
    changed = there.patch(path, {**issuer, "name": "Other", "subject": "a:b/*", "onlyOwn": False})
    assert changed.json()["data"]["issuer"] == {
        **issuer,
        "name": "Other",
        "subject": "a:b/*",
        "onlyOwn": False,
    }
    assert there.get(path).json()["data"]["issuer"] == changed.json()["data"]["issuer"]
    [listed] = there.get(PATH).json()["data"]["issuers"]
    assert listed == changed.json()["data"]["issuer"]
    assert there.delete(path).status_code == 200
    assert [there.get(path).status_code, there.delete(path).status_code] == [404, 404]


def test_it_is_a_key_without_a_text(there: APIClient, marketing: Workspace) -> None:
    listen(marketing, types=["key.created", "key.revoked"])
    issuer = create(there)
    [key] = there.get("/api/keys").json()["data"]["keys"]
    assert {name: key[name] for name in ("_id", "issuer", "belongsTo", "creator")} == {
        "_id": issuer["_id"],
        "issuer": TOKEN_ISSUER["issuer"],
        "belongsTo": "workspace",
        "creator": None,
    }
    refused = there.post(f"/api/keys/{issuer['_id']}/rotate")
    assert (refused.status_code, refused.json()["code"]) == (409, "key_of_issuer")
    other = there.post("/api/keys", {"name": "Import", "scopes": ["urls:read"]}).json()["data"]["key"]
    assert there.get(f"{PATH}/{other['_id']}").status_code == 404
    assert there.patch(f"{PATH}/{other['_id']}", {"subject": "a"}).status_code == 404
    assert there.delete(f"{PATH}/{other['_id']}").status_code == 404
    assert there.delete(f"/api/keys/{issuer['_id']}").status_code == 200
    data = {"key": {"id": issuer["_id"], **TOKEN_ISSUER}}
    assert [
        (of_type, {"key": {name: event["key"][name] for name in data["key"]}})
        for of_type, event in stored(marketing)
        if event["key"]["id"] == issuer["_id"]
    ] == [("key.created", data), ("key.revoked", data)]
    changes = there.get("/api/audit").json()["data"]["changes"]
    recorded = [(change["action"], change["before"], change["after"]) for change in changes]
    fields = {
        **TOKEN_ISSUER,
        "domainId": None,
        "onlyOwn": False,
        "expiresAt": None,
        "belongsTo": "workspace",
    }
    assert [change for change in recorded if "issuer" in change[1] or "issuer" in change[2]] == [
        ("key.deleted", fields, {}),
        ("key.created", {}, fields),
    ]


BAD: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "http": ({"issuer": "http://issuer.example"}, [("issuer", "issuer")]),
    "query": ({"issuer": "https://issuer.example/?a"}, [("issuer", "issuer")]),
    "userinfo": ({"issuer": "https://a@issuer.example"}, [("issuer", "issuer")]),
    "anybody": ({"subject": "*"}, [("subject", "subject")]),
    "any repository": ({"subject": "repo:*"}, [("subject", "subject")]),
    "those that begin alike": ({"subject": "repo:acme*"}, [("subject", "subject")]),
    "six stars": ({"subject": "repo:acme/******"}, [("subject", "subject")]),
    "long": ({"subject": "a" * 501}, [("subject", "max_length")]),
    "blank": ({"audience": " "}, [("audience", "audience")]),
    "private": ({"jwks": {"keys": [PRIVATE]}}, [("jwks.keys.0", "private")]),
    "short": ({"jwks": {"keys": [SHORT]}}, [("jwks.keys.0", "jwk")]),
    "symmetric": ({"jwks": {"keys": [{"kty": "oct", "k": "YQ"}]}}, [("jwks.keys.0", "private")]),
    "unknown": ({"jwks": {"keys": [{"kty": "EC", "x": "a"}]}}, [("jwks.keys.0", "jwk")]),
    "another curve": ({"jwks": {"keys": [CURVE]}}, [("jwks.keys.0", "jwk")]),
    "huge": ({"jwks": {"keys": [{**SHORT, "n": "a" * 701}]}}, [("jwks.keys.0.n", "max_length")]),
    "many": ({"jwks": {"keys": [TOKEN_ISSUER["jwks"]["keys"][0]] * 11}}, [("jwks.keys", "max_length")]),
    "none": ({"jwks": {"keys": []}}, [("jwks.keys", "min_length")]),
    "member": ({"scopes": ["members:write"]}, [("scopes", "needs_member")]),
    "limited": ({"scopes": ["domains:write"], "onlyOwn": True}, [("scopes", "limited")]),
}


@for_each("name", BAD)
def test_bad_fields_change_nothing(name: str, there: APIClient) -> None:
    fields, expected = BAD[name]
    assert errors(there.post(PATH, TOKEN_ISSUER | fields)) == expected
    issuer = create(there)
    assert errors(there.patch(f"{PATH}/{issuer['_id']}", fields)) == expected
    assert there.get(f"{PATH}/{issuer['_id']}").json()["data"]["issuer"] == issuer


def test_the_keys_of_an_issuer_must_be_readable(issuer: Issuer, there: APIClient, settings: Settings) -> None:
    fields = {**TOKEN_ISSUER, "issuer": issuer.url, "jwks": None}

    def message() -> str:
        response = there.post(PATH, fields)
        assert errors(response) == [("issuer", "unreachable")]
        text: str = response.json()["errors"][0]["message"]
        return text.split(": ", 1)[1].removesuffix(" You can send them as jwks instead.")

    configuration = "/.well-known/openid-configuration"
    issuer.bodies = {configuration: {"issuer": f"{issuer.url}/", "jwks_uri": f"{issuer.url}/keys"}}
    assert message() == "Its configuration names another issuer."
    issuer.bodies = {configuration: {"issuer": issuer.url, "jwks_uri": issuer.url.replace("https", "http")}}
    assert message() == "The address must start with https://."
    issuer.bodies = {configuration: {"issuer": issuer.url, "jwks_uri": "https://169.254.169.254/"}}
    assert message() == "The address is not a public one."
    issuer.bodies = {"/keys": {"keys": "none"}}
    assert message() == "Its list of keys is malformed."
    issuer.bodies = {"/keys": {"keys": [{}] * 5_000}}
    assert message() == "It lists no key for RS256 or ES256."
    issuer.bodies = {"/keys": b" " * 100_000}
    assert message() == "Its list of keys is no JSON, or too large."
    issuer.bodies, issuer.status = {}, "302 Found"
    assert message() == "It answered with status 302 for its configuration."
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    assert message() == "The address is not a public one."
    settings.OUTBOUND = False
    assert message() == "This installation sends no requests to other hosts."
    entered = create(there)
    response = there.patch(f"{PATH}/{entered['_id']}", {"jwks": None})
    assert errors(response) == [("issuer", "unreachable")]
    assert there.get(f"{PATH}/{entered['_id']}").json()["data"]["issuer"] == entered


def test_the_same_tokens_cannot_be_accepted_twice(there: APIClient, alice: NewAccount) -> None:
    create(there)
    second = there.post(PATH, TOKEN_ISSUER)
    assert (second.status_code, second.json()["code"]) == (409, "conflict")
    other = create(there, subject="repo:acme/site:environment:production")
    changed = there.patch(f"{PATH}/{other['_id']}", {"subject": TOKEN_ISSUER["subject"]})
    assert (changed.status_code, changed.json()["code"]) == (409, "conflict")
    # Other workspaces may.
    create(bearer_client(alice.user))


def test_they_count_as_keys_of_the_workspace(there: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_keys, "MAX_KEYS", 1)
    create(there)
    response = there.post(PATH, {**TOKEN_ISSUER, "subject": "a"})
    assert (response.status_code, response.json()["code"]) == (403, "quota_exceeded")
    assert ScopedKey.objects.count() == 1


def test_only_admins_of_the_workspace_see_and_change_them(
    there: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    issuer = create(there)
    path = f"{PATH}/{issuer['_id']}"
    calls = (("get", path), ("patch", path), ("delete", path))
    assert [getattr(mallory, method)(where).status_code for method, where in calls] == [404, 404, 404]
    assert mallory.get(PATH).json()["data"]["issuers"] == []
    add_member(marketing, stranger, Role.EDITOR)
    theirs = token_client_in(marketing, stranger.user)
    answers = [getattr(theirs, method)(where).status_code for method, where in (*calls, ("get", PATH))]
    assert answers == [403, 403, 403, 403]
    assert there.get(path).json()["data"]["issuer"] == issuer


def test_a_list_takes_as_many_statements_however_long_it_is(there: APIClient, marketing: Workspace) -> None:
    counts = []
    for number in range(3):
        domain = Domain.objects.create(
            owner=marketing, domain=f"{number}.example", host=f"{number}.example", status="active"
        )
        create(there, subject=f"subject {number}", domainId=str(domain.public_id))
        with CaptureQueriesContext(connection) as queries:
            assert len(there.get(PATH).json()["data"]["issuers"]) == number + 1
        counts.append(len(queries))
    assert counts == [counts[0]] * 3
