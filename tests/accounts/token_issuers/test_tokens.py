"""Which tokens of issuers act as a key, and which are refused."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import ScopedKey, Workspace
from accounts.services import NewAccount
from links.models import Link
from testing.accounts.accounts import bearer_client, token_client
from testing.accounts.fixtures import alice as alice
from testing.accounts.fixtures import mallory as mallory
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.issuers import AUDIENCE, SUBJECT, Issuer, ec_key, public_jwk, rsa_key
from testing.accounts.workspaces import key_client_in, team, token_client_in
from testing.cases import for_each
from tests.accounts.token_issuers.conftest import Clock

LINK = {"originalUrl": "https://example.com/"}


def add(there: APIClient, of: Issuer, /, **fields: Any) -> dict[str, Any]:
    body = {
        "name": "Deploy",
        "issuer": of.url,
        "audience": AUDIENCE,
        "subject": SUBJECT,
        "scopes": ["urls:read", "urls:write"],
        **fields,
    }
    response = there.post("/api/token-issuers", body)
    assert response.status_code == 201, response.content
    added: dict[str, Any] = response.json()["data"]["issuer"]
    return added


def client_of(token: str, workspace: Workspace | str) -> APIClient:
    named = workspace if isinstance(workspace, str) else str(workspace.public_id)
    headers = {"host": "sho.rt", "authorization": f"Bearer {token}", "x-workspace": named}
    return APIClient(headers=headers)


def outcome(token: str, workspace: Workspace | str) -> tuple[int, str | None]:
    response = client_of(token, workspace).get("/api/urls")
    return response.status_code, response.json().get("code")


REFUSED = (401, "token_refused")


@for_each("kid", ["rsa", "ec"])
def test_a_token_acts_as_a_key_of_the_workspace(
    kid: str, issuer: Issuer, alice: NewAccount, marketing: Workspace
) -> None:
    there = token_client_in(marketing, alice.user)
    added = add(there, issuer)
    client = client_of(issuer.token(kid), marketing)
    link = client.post("/api/urls", LINK).json()["data"]["url"]["_id"]
    assert client.put(f"/api/urls/{link}", {"title": "Sale"}).status_code == 200
    [change] = there.get(f"/api/urls/{link}/history").json()["data"]["changes"]
    assert {name: change[name] for name in ("actor", "via", "keyId", "tokenIssuer", "tokenSubject")} == {
        "actor": None,
        "via": "token",
        "keyId": added["_id"],
        "tokenIssuer": issuer.url,
        "tokenSubject": SUBJECT,
    }
    assert client.delete(f"/api/urls/{link}").status_code == 200
    assert client.get("/api/analytics").json()["code"] == "scope_required"
    assert client.get("/api/keys").json()["code"] == "not_authenticated"
    assert ScopedKey.objects.get().last_used_at is not None


def test_in_a_personal_workspace_it_acts_as_a_key_of_the_account(issuer: Issuer, alice: NewAccount) -> None:
    add(bearer_client(alice.user), issuer)
    link = client_of(issuer.token(), alice.workspace).post("/api/urls", LINK).json()["data"]["url"]["_id"]
    shown = bearer_client(alice.user).get(f"/api/urls/{link}").json()["data"]["url"]
    assert shown["creator"]["_id"] == str(alice.user.public_id)
    type(alice.user).objects.update(is_active=False)
    assert outcome(issuer.token(), alice.workspace) == REFUSED


def _unsigned(issuer: Issuer) -> str:
    return _encoded({"alg": "none", "kid": "rsa"}, issuer.claims()) + "."


def _signed_with_the_public_key(issuer: Issuer) -> str:
    """With HS256, a verifier that takes the algorithm from the token compares with what everybody knows."""
    secret = rsa_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    content = _encoded({"alg": "HS256", "kid": "rsa"}, issuer.claims())
    return f"{content}.{_base64(hmac.digest(secret, content.encode(), hashlib.sha256))}"


def _encoded(*parts: dict[str, Any]) -> str:
    return ".".join(_base64(json.dumps(part).encode()) for part in parts)


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _altered(issuer: Issuer) -> str:
    header, _, signature = issuer.token().split(".")
    return f"{header}.{_encoded(issuer.claims(sub=SUBJECT, extra=1))}.{signature}"


NO_TOKEN_OF_AN_ISSUER = (401, "not_authenticated")
BAD: dict[str, tuple[Callable[[Issuer], str], tuple[int, str]]] = {
    "expired": (lambda issuer: issuer.token(exp=int(time.time()) - 61), REFUSED),
    "for more than a day": (lambda issuer: issuer.token(exp=int(time.time()) + 86_402), REFUSED),
    "never expires": (lambda issuer: issuer.token(exp=None), REFUSED),
    "from the future": (lambda issuer: issuer.token(iat=int(time.time()) + 90), REFUSED),
    "not yet valid": (lambda issuer: issuer.token(nbf=int(time.time()) + 90), REFUSED),
    "for another audience": (lambda issuer: issuer.token(aud="https://other.example"), REFUSED),
    "without an audience": (lambda issuer: issuer.token(aud=None), REFUSED),
    "for too many": (lambda issuer: issuer.token(aud=[AUDIENCE] * 21), REFUSED),
    "of another subject": (lambda issuer: issuer.token(sub="repo:acme/site:pull_request"), REFUSED),
    "of a longer subject": (lambda issuer: issuer.token(sub=f"{SUBJECT}2"), REFUSED),
    "of an object": (lambda issuer: issuer.token(aud={"a": 1}), REFUSED),
    "with a NUL": (lambda issuer: issuer.token(iss=f"{issuer.url}\0"), REFUSED),
    "of an unknown issuer": (lambda issuer: issuer.token(iss="https://127.0.0.1:1"), REFUSED),
    "of the issuer with a slash": (lambda issuer: issuer.token(iss=f"{issuer.url}/"), REFUSED),
    "signed by a stranger": (lambda issuer: issuer.token(key=rsa_key(9)), REFUSED),
    "signed by the other key": (lambda issuer: issuer.token("ec", key=rsa_key()), REFUSED),
    "with another algorithm": (lambda issuer: issuer.token(algorithm="RS512"), NO_TOKEN_OF_AN_ISSUER),
    "altered": (_altered, REFUSED),
    "unsigned": (_unsigned, NO_TOKEN_OF_AN_ISSUER),
    "signed with the public key": (_signed_with_the_public_key, NO_TOKEN_OF_AN_ISSUER),
    "no token": (lambda issuer: "eyJhbGciOiJSUzI1NiJ9.e30", NO_TOKEN_OF_AN_ISSUER),
}


def test_bad_tokens_are_refused_and_count(issuer: Issuer, alice: NewAccount, settings: Settings) -> None:
    add(bearer_client(alice.user), issuer)
    outcomes = {name: outcome(make(issuer), alice.workspace) for name, (make, _) in BAD.items()}
    assert outcomes == {name: expected for name, (_, expected) in BAD.items()}
    # All but those that the clocks of two hosts allow.
    now = int(time.time())
    assert outcome(issuer.token(exp=now - 30, nbf=now + 30, iat=now + 30), alice.workspace) == (200, None)
    assert outcome(issuer.token(aud=["https://other.example", AUDIENCE]), alice.workspace) == (200, None)
    settings.RATE_LIMIT_ANONYMOUS = 2
    assert [outcome(_altered(issuer), alice.workspace)[0] for _ in range(4)] == [401, 401, 429, 429]


def test_only_the_service_and_members_call_an_issuer(issuer: Issuer, alice: NewAccount) -> None:
    """A stranger cannot make the service call a host by naming it in a token."""
    assert outcome(issuer.token(), alice.workspace) == REFUSED
    assert issuer.requests == []


def test_rotated_keys_are_read_at_most_once_a_minute(issuer: Issuer, alice: NewAccount, clock: Clock) -> None:
    add(bearer_client(alice.user), issuer)
    assert outcome(issuer.token(), alice.workspace) == (200, None)
    del issuer.requests[:]
    issuer.keys["new"] = rsa_key(1)
    clock.now += 59
    assert [outcome(issuer.token(kid), alice.workspace)[0] for kid in ("new", "rsa", "new")] == [
        401,
        200,
        401,
    ]
    assert issuer.requests == []
    clock.now += 1
    assert outcome(issuer.token("new"), alice.workspace)[0] == 200
    flood = [outcome(issuer.token(f"kid{number}", key=rsa_key(9)), alice.workspace)[0] for number in range(5)]
    assert flood == [401] * 5
    assert issuer.requests == ["/.well-known/openid-configuration", "/keys"]
    # The issuer withdraws a key.
    del issuer.keys["rsa"]
    clock.now += 601
    assert [
        outcome(issuer.token("new"), alice.workspace)[0],
        outcome(issuer.token("rsa", key=rsa_key()), alice.workspace)[0],
    ] == [200, 401]


def test_an_issuer_that_is_down_keeps_its_keys_for_an_hour(
    issuer: Issuer, alice: NewAccount, clock: Clock
) -> None:
    add(bearer_client(alice.user), issuer)
    assert outcome(issuer.token(), alice.workspace) == (200, None)
    issuer.status = "500 Internal Server Error"
    clock.now += 3600
    assert outcome(issuer.token(), alice.workspace) == (200, None)
    clock.now += 1
    del issuer.requests[:]
    assert outcome(issuer.token(), alice.workspace) == REFUSED
    # It failed once, a moment ago.
    assert issuer.requests == []
    clock.now += 60
    assert [outcome(issuer.token(), alice.workspace)[0] for _ in range(2)] == [401, 401]
    assert len(issuer.requests) == 1
    issuer.status = "200 OK"
    clock.now += 60
    assert outcome(issuer.token(), alice.workspace) == REFUSED
    clock.now += 60
    assert outcome(issuer.token(), alice.workspace) == (200, None)


def test_keys_that_a_workspace_has_entered_need_no_request(
    issuer: Issuer, alice: NewAccount, settings: Settings
) -> None:
    settings.OUTBOUND = False
    there = bearer_client(alice.user)
    entered = {"keys": [public_jwk(ec_key(5), None)]}
    added = add(there, issuer, issuer="https://kubernetes.default.svc.cluster.local", jwks=entered)
    assert (added["jwks"], issuer.requests) == (entered, [])
    token = issuer.token(None, key=ec_key(5), iss=added["issuer"])
    assert outcome(token, alice.workspace) == (200, None)
    assert outcome(issuer.token("ec", iss=added["issuer"]), alice.workspace) == REFUSED
    # Keys of one issuer are those of its own rows only.
    assert outcome(issuer.token(None, key=ec_key(5)), alice.workspace) == REFUSED


def test_the_most_specific_subject_decides(issuer: Issuer, alice: NewAccount) -> None:
    there = bearer_client(alice.user)
    add(there, issuer, subject="repo:acme/*:ref:refs/heads/main", scopes=["urls:read"])
    exact = add(there, issuer, scopes=["urls:read", "urls:write"])
    add(there, issuer, subject="repo:acme/*", scopes=["urls:read"])
    add(there, issuer, subject="repo:acme/s_t_:ref:refs/heads/*", scopes=["analytics:read"])

    def statuses(subject: str) -> list[int]:
        client = client_of(issuer.token(sub=subject), alice.workspace)
        return [client.get("/api/urls").status_code, client.post("/api/urls", LINK).status_code]

    assert statuses(SUBJECT) == [200, 201]
    assert statuses("repo:acme/other:ref:refs/heads/main") == [200, 403]
    assert statuses("repo:acme/%") == [200, 403]
    assert statuses("repo:acme2/site:ref:refs/heads/main") == [401, 401]
    assert there.delete(f"/api/keys/{exact['_id']}").status_code == 200
    assert statuses(SUBJECT) == [200, 403]


def test_nobody_receives_the_requests_of_others(
    issuer: Issuer, alice: NewAccount, stranger: NewAccount, mallory: APIClient
) -> None:
    """Also not while the issuer is down, and the stranger alone has its public keys."""
    add(bearer_client(alice.user), issuer, subject="repo:acme/site:*")
    added = add(mallory, issuer, jwks=issuer.jwks)
    issuer.status = "500 Internal Server Error"
    token = issuer.token()
    response = token_client(token).post("/api/urls", LINK)
    assert (response.status_code, response.json()["code"]) == REFUSED
    assert outcome(token, alice.workspace) == REFUSED
    assert [outcome(token, name) for name in (stranger.workspace, "nonsense", added["_id"])] == [
        (200, None),
        REFUSED,
        REFUSED,
    ]
    assert not Link.objects.exists()


def test_a_signature_is_verified_once_for_each_list_of_keys(
    issuer: Issuer, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = bearer_client(alice.user)
    for number in range(5):
        add(there, issuer, subject=SUBJECT[: 20 + number] + "*")
        add(
            there,
            issuer,
            subject=SUBJECT[: 25 + number] + "*",
            jwks={"keys": [public_jwk(rsa_key(9), "rsa")]},
        )
    verified, decode = [], jwt.decode
    monkeypatch.setattr(
        jwt, "decode", lambda *args, **options: verified.append(1) or decode(*args, **options)
    )
    assert outcome(issuer.token(key=rsa_key(8)), alice.workspace) == REFUSED
    # It is no access token of the service, either.
    assert len(verified) == 1 + 2
    assert outcome(issuer.token(), alice.workspace) == (200, None)


def test_a_key_with_an_issuer_ends_at_once(issuer: Issuer, alice: NewAccount) -> None:
    there = bearer_client(alice.user)
    path = f"/api/token-issuers/{add(there, issuer)['_id']}"
    token = issuer.token()
    assert outcome(token, alice.workspace) == (200, None)
    assert there.patch(path, {"audience": "https://other.example"}).status_code == 200
    assert outcome(token, alice.workspace) == REFUSED
    assert there.patch(path, {"audience": AUDIENCE}).status_code == 200
    ScopedKey.objects.update(expires_at="2001-01-01T00:00:00Z")
    assert outcome(token, alice.workspace) == (401, "key_expired")
    ScopedKey.objects.update(expires_at=None)
    assert outcome(token, alice.workspace) == (200, None)
    assert there.delete(path).status_code == 200
    assert outcome(token, alice.workspace) == REFUSED


def test_its_requests_count_for_the_workspace_and_are_logged_by_key(
    issuer: Issuer, alice: NewAccount, marketing: Workspace, settings: Settings
) -> None:
    settings.RATE_LIMITS = {"free": 2, "pro": 2, "enterprise": 2}
    there = token_client_in(marketing, alice.user)
    for subject in ("repo:acme/a:*", "repo:acme/b:*"):
        ScopedKey.objects.create(
            workspace=marketing,
            name="Deploy",
            scopes=1,
            only_own=False,
            issuer=issuer.url,
            audience=AUDIENCE,
            subject=subject,
        )
    tokens = [issuer.token(sub=f"repo:acme/{name}:x") for name in "aba"]
    assert [outcome(token, marketing)[0] for token in tokens] == [200, 200, 429]
    assert there.get("/api/urls").status_code == 429


def test_other_credentials_take_no_further_statement(alice: NewAccount, issuer: Issuer) -> None:
    """The issuers are looked up only for tokens with their algorithms."""
    add(bearer_client(alice.user), issuer)
    counts = []
    for client in (
        bearer_client(alice.user),
        key_client_in(team(alice), alice.api_key),
        token_client("eyJ.eyJ.x"),
        token_client(_unsigned(issuer)),
    ):
        with CaptureQueriesContext(connection) as queries:
            client.get("/api/auth/nothing")
            client.get("/api/urls/domains/available")
        counts.append([query["sql"] for query in queries if "issuer" in query["sql"]])
    assert counts == [[], [], [], []]
    with CaptureQueriesContext(connection) as queries:
        client_of(issuer.token(), alice.workspace).get("/api/urls/domains/available")
    assert len([query for query in queries if "accounts_scopedkey" in query["sql"]]) == 2
