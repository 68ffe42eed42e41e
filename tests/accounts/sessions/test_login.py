import jwt
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import Session
from accounts.password_hashing import Argon2
from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD, account
from testing.cases import for_each
from tests.accounts.sessions.logins import WRONG, disable, log_in, outcome, use
from tests.accounts.sessions.logins import alice as alice


def test_login_returns_a_token_and_a_refresh_token(alice: NewAccount, anonymous: APIClient) -> None:
    response = log_in(anonymous)
    body = response.json()
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Cache-Control"] == "no-store"
    assert body == {"success": True, "token": body["token"], "refreshToken": body["refreshToken"]}
    assert body["token"] != body["refreshToken"]


def test_token_opens_the_account_it_was_issued_for(
    alice: NewAccount, stranger: NewAccount, anonymous: APIClient
) -> None:
    token = log_in(anonymous).json()["token"]
    strange_token = log_in(anonymous, "mallory@example.com").json()["token"]
    keys = [
        anonymous.get("/api/auth/api-key", headers={"authorization": f"Bearer {refused}"}).json()
        for refused in (token, strange_token)
    ]
    assert keys == [
        {"success": True, "apiKey": alice.api_key},
        {"success": True, "apiKey": stranger.api_key},
    ]


def test_token_contains_the_public_id_of_the_account_and_nothing_else_about_it(
    alice: NewAccount, anonymous: APIClient
) -> None:
    token = log_in(anonymous).json()["token"]
    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims == {
        "token_type": "access",
        "exp": claims["iat"] + 3600,
        "iat": claims["iat"],
        "jti": claims["jti"],
        "sub": str(alice.user.public_id),
        "sid": str(Session.objects.get().public_id),
        "hash_password": claims["hash_password"],
        "aud": "shortener-api",
        "iss": "shortener",
    }
    assert claims["hash_password"] not in alice.user.password
    assert jwt.get_unverified_header(token) == {"alg": "HS256", "typ": "JWT"}


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_scheme_is_case_insensitive(scheme: str, alice: NewAccount, anonymous: APIClient) -> None:
    assert use(anonymous, log_in(anonymous).json()["token"], scheme).status_code == 200


@pytest.mark.parametrize(
    "email", ["alice@example.com", "ALICE@EXAMPLE.COM", "Alice@Example.com", "alice@EXAMPLE.com"]
)
def test_email_is_case_insensitive(email: str, alice: NewAccount, anonymous: APIClient) -> None:
    assert log_in(anonymous, email).status_code == 200


def test_account_created_with_capitals_logs_in_with_lower_case(db: None, anonymous: APIClient) -> None:
    account("Grace.Hopper@Example.COM")
    assert log_in(anonymous, "grace.hopper@example.com").status_code == 200


@for_each(
    ("email", "password"),
    [
        ("alice@example.com", "wrong"),
        ("alice@example.com", PASSWORD.upper()),
        ("alice@example.com", PASSWORD + " "),
        ("alice@example.com", " " + PASSWORD),
        ("alice@example.com", PASSWORD[:-1]),
        ("alice@example.com", " "),
        ("alice@example.com", "x" * 128),
        ("nobody@example.com", PASSWORD),
        ("nobody@example.com", "wrong"),
        ("alice@example.com ", PASSWORD),
        (" alice@example.com", PASSWORD),
        ("alice", PASSWORD),
        ("alice@example.co_", PASSWORD),
        ("%", PASSWORD),
        ("' OR 1=1 --", "' OR 1=1 --"),
        ("x" * 254, PASSWORD),
        ("dormant@example.com", PASSWORD),
        ("dormant@example.com", "wrong"),
    ],
)
def test_every_refusal_has_the_same_response(
    email: str, password: str, alice: NewAccount, anonymous: APIClient
) -> None:
    if email == "dormant@example.com":
        disable(account(email).user)
    assert outcome(log_in(anonymous, email, password)) == (401, WRONG, 'Bearer realm="api"')


def test_an_account_without_a_usable_password_cannot_log_in(alice: NewAccount, anonymous: APIClient) -> None:
    alice.user.set_unusable_password()
    alice.user.save()
    assert outcome(log_in(anonymous, password=alice.user.password))[:2] == (401, WRONG)


@pytest.mark.parametrize("password", ["pässwörd 🎉 ключ", "   spaces   ", "x" * 128, "🎉" * 128])
def test_password_is_not_normalized(password: str, alice: NewAccount, anonymous: APIClient) -> None:
    alice.user.set_password(password)
    alice.user.save()
    assert log_in(anonymous, password=password).status_code == 200


@pytest.mark.parametrize("email", ["alice@example.com", "nobody@example.com", "dormant@example.com"])
@pytest.mark.usual_passwords
def test_every_refusal_costs_one_hash_and_the_same_queries(
    email: str, alice: NewAccount, anonymous: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    disable(account("dormant@example.com").user)
    hashes = []

    def spy(hasher: Argon2, password: str, salt: bytes) -> str:
        hashes.append((password, hasher.time_cost, hasher.memory_cost, hasher.parallelism))
        return hash_password(hasher, password, salt)

    hash_password = Argon2.encode
    monkeypatch.setattr(Argon2, "encode", spy)
    verified = Argon2.verify

    def spy_verify(hasher: Argon2, password: str, encoded: str) -> bool:
        cost = hasher.decode(encoded)
        hashes.append((password, cost["time_cost"], cost["memory_cost"], cost["parallelism"]))
        return verified(hasher, password, encoded)

    monkeypatch.setattr(Argon2, "verify", spy_verify)
    with CaptureQueriesContext(connection) as queries:
        assert log_in(anonymous, email, "wrong").status_code == 401

    assert hashes == [("wrong", 2, 19 * 1024, 1)]
    # The account; then, in a transaction, the failures of the account, whether the network is known, and an attempt at
    # the limits of the account and network, the account and provider, and the network.
    assert len(queries) == 8


def test_one_network_cannot_try_passwords_on_many_accounts(
    settings: Settings, alice: NewAccount, anonymous: APIClient
) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    statuses = [log_in(anonymous, f"user{number}@example.com", "wrong").status_code for number in range(102)]

    assert statuses == [401] * 100 + [429] * 2
    other_network = APIClient(headers={"host": "sho.rt"})
    other_network.defaults["REMOTE_ADDR"] = "198.51.100.5"
    assert log_in(other_network, "user0@example.com").status_code == 401


def test_guessing_the_password_of_one_account_is_limited(alice: NewAccount, anonymous: APIClient) -> None:
    for _ in range(30):
        response = log_in(anonymous, password="wrong")
        if response.status_code == 429:
            break
        assert response.status_code == 401
    body = response.json()
    assert (response.status_code, body["success"], body["code"]) == (429, False, "rate_limited")
    assert int(response.headers["Retry-After"]) >= 1
    # Even the correct password is refused, otherwise guessing would only have to continue.
    assert log_in(anonymous).status_code == 429
