from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
import time_machine
from django.conf import settings as project_settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings
from rest_framework.response import Response
from rest_framework.test import APIClient

from accounts.credentials.hashers import Argon2
from accounts.models import Session, User
from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD, account

WRONG = {
    "success": False,
    "message": "The e-mail or the password is wrong.",
    "code": "not_authenticated",
}
BAD_TOKEN = {
    "success": False,
    "message": "The token is not valid or has expired.",
    "code": "not_authenticated",
}
BAD_REFRESH = {
    "success": False,
    "message": "The refresh token is not valid or has expired.",
    "code": "not_authenticated",
}


@pytest.fixture
def alice(db: None) -> NewAccount:
    return account("alice@example.com")


def log_in(client: APIClient, email: str = "alice@example.com", password: str = PASSWORD) -> Response:
    return client.post("/api/auth/login", {"email": email, "password": password})


def use(client: APIClient, token: str, scheme: str = "Bearer") -> Response:
    return client.get("/api/urls", headers={"authorization": f"{scheme} {token}"})


def refresh(client: APIClient, token: str) -> Response:
    return client.post("/api/auth/refresh", {"refreshToken": token})


def outcome(response: Response) -> tuple[int, dict[str, Any], str | None]:
    return response.status_code, response.json(), response.headers.get("WWW-Authenticate")


def change_password(user: User) -> None:
    user.set_password("another good password")
    user.save()


def disable(user: User) -> None:
    user.is_active = False
    user.save()


def delete(user: User) -> None:
    user.delete()


REVOCATIONS = pytest.mark.parametrize("revoke", [change_password, disable, delete])


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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("value", [None, 5, 5.0, True, [], {}, ["alice@example.com"], ""])
@pytest.mark.parametrize("field", ["email", "password"])
def test_login_field_that_is_not_a_string_is_named(
    field: str, value: object, alice: NewAccount, anonymous: APIClient
) -> None:
    response = anonymous.post(
        "/api/auth/login", {"email": "alice@example.com", "password": PASSWORD, field: value}
    )
    expected = {
        "": ("blank", "This field may not be blank."),
        None: ("null", "This field may not be null."),
    }
    code, sentence = expected[value] if value in ("", None) else ("invalid", "Not a valid string.")
    assert (response.status_code, response.json()) == (
        400,
        {
            "success": False,
            "message": f"{field}: {sentence}",
            "code": "validation_error",
            "errors": [{"field": field, "code": code, "message": sentence}],
        },
    )


def test_login_names_every_missing_field_at_once(anonymous: APIClient) -> None:
    response = anonymous.post("/api/auth/login", {})
    sentence = "This field is required."
    assert (response.status_code, response.json()) == (
        400,
        {
            "success": False,
            "message": f"email: {sentence}",
            "code": "validation_error",
            "errors": [
                {"field": "email", "code": "required", "message": sentence},
                {"field": "password", "code": "required", "message": sentence},
            ],
        },
    )


@pytest.mark.parametrize(("field", "longest"), [("email", 254), ("password", 128)])
def test_too_long_login_field_is_refused_before_any_work(
    field: str, longest: int, db: None, anonymous: APIClient
) -> None:
    fields = {"email": "nobody@example.com", "password": "x", field: "x" * longest}
    assert anonymous.post("/api/auth/login", fields).status_code == 401
    response = anonymous.post("/api/auth/login", {**fields, field: "x" * (longest + 1)})
    assert response.status_code == 400
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [(field, "max_length")]


@pytest.mark.parametrize(
    "headers", [{"x-api-key": "wrong"}, {"authorization": "Bearer wrong"}, {"authorization": "Basic eDp5"}]
)
def test_login_ignores_other_credentials(
    headers: dict[str, str], alice: NewAccount, anonymous: APIClient
) -> None:
    response = anonymous.post(
        "/api/auth/login", {"email": "alice@example.com", "password": PASSWORD}, headers=headers
    )
    assert response.status_code == 200


def test_refresh_returns_a_new_token(alice: NewAccount, anonymous: APIClient) -> None:
    first = log_in(anonymous).json()
    response = refresh(anonymous, first["refreshToken"])
    body = response.json()
    expected = {"success": True, "token": body["token"], "refreshToken": body["refreshToken"]}
    assert (response.status_code, body) == (200, expected)
    assert len({*first.values(), *body.values()}) == 5
    assert use(anonymous, body["token"]).status_code == 200


def test_refresh_token_is_not_accepted_as_access_token(alice: NewAccount, anonymous: APIClient) -> None:
    token = log_in(anonymous).json()["refreshToken"]
    assert outcome(use(anonymous, token)) == (401, BAD_TOKEN, 'Bearer realm="api"')


def test_access_token_does_not_refresh(alice: NewAccount, anonymous: APIClient) -> None:
    token = log_in(anonymous).json()["token"]
    assert outcome(refresh(anonymous, token)) == (401, BAD_REFRESH, 'Bearer realm="api"')


def test_refreshed_token_does_not_refresh(alice: NewAccount, anonymous: APIClient) -> None:
    token = refresh(anonymous, log_in(anonymous).json()["refreshToken"]).json()["token"]
    assert outcome(refresh(anonymous, token))[:2] == (401, BAD_REFRESH)


@pytest.mark.parametrize(
    ("value", "code"),
    [(None, "null"), (5, "invalid"), (True, "invalid"), ([], "invalid"), ({}, "invalid"), ("", "blank")],
)
def test_refresh_token_must_be_a_string(value: object, code: str, anonymous: APIClient) -> None:
    response = anonymous.post("/api/auth/refresh", {"refreshToken": value})
    assert response.status_code == 400
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [
        ("refreshToken", code)
    ]


def test_refresh_token_is_required_and_limited_in_length(anonymous: APIClient) -> None:
    responses = [anonymous.post("/api/auth/refresh", body) for body in ({}, {"refreshToken": "x" * 2001})]
    assert [
        (response.status_code, error["field"], error["code"])
        for response in responses
        for error in response.json()["errors"]
    ] == [(400, "refreshToken", "required"), (400, "refreshToken", "max_length")]


@REVOCATIONS
def test_access_tokens_become_invalid_with_their_account_or_password(
    revoke: Callable[[User], None], alice: NewAccount, stranger: NewAccount, anonymous: APIClient
) -> None:
    token = log_in(anonymous).json()["token"]
    others = log_in(anonymous, "mallory@example.com").json()["token"]
    assert use(anonymous, token).status_code == 200
    revoke(alice.user)
    assert outcome(use(anonymous, token)) == (401, BAD_TOKEN, 'Bearer realm="api"')
    assert use(anonymous, others).status_code == 200


@REVOCATIONS
def test_refresh_tokens_become_invalid_with_their_account_or_password(
    revoke: Callable[[User], None], alice: NewAccount, stranger: NewAccount, anonymous: APIClient
) -> None:
    token = log_in(anonymous).json()["refreshToken"]
    others = log_in(anonymous, "mallory@example.com").json()["refreshToken"]
    revoke(alice.user)
    assert outcome(refresh(anonymous, token)) == (401, BAD_REFRESH, 'Bearer realm="api"')
    assert refresh(anonymous, others).status_code == 200


@REVOCATIONS
def test_refreshed_tokens_become_invalid_too(
    revoke: Callable[[User], None], alice: NewAccount, anonymous: APIClient
) -> None:
    token = refresh(anonymous, log_in(anonymous).json()["refreshToken"]).json()["token"]
    assert use(anonymous, token).status_code == 200
    revoke(alice.user)
    assert outcome(use(anonymous, token))[:2] == (401, BAD_TOKEN)


def test_after_a_password_change_only_the_new_one_logs_in(alice: NewAccount, anonymous: APIClient) -> None:
    change_password(alice.user)
    assert outcome(log_in(anonymous))[:2] == (401, WRONG)
    token = log_in(anonymous, password="another good password").json()["token"]
    assert use(anonymous, token).status_code == 200


def test_access_token_is_valid_for_an_hour(alice: NewAccount, anonymous: APIClient) -> None:
    with time_machine.travel(datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC), tick=False) as clock:
        token = log_in(anonymous).json()["token"]
        clock.shift(timedelta(seconds=3599))
        assert use(anonymous, token).status_code == 200
        clock.shift(timedelta(seconds=1))
        assert outcome(use(anonymous, token)) == (401, BAD_TOKEN, 'Bearer realm="api"')


def test_refresh_token_is_valid_for_thirty_days_and_issues_tokens_of_an_hour(
    alice: NewAccount, anonymous: APIClient
) -> None:
    with time_machine.travel(datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC), tick=False) as clock:
        refresh_token = log_in(anonymous).json()["refreshToken"]
        clock.shift(timedelta(days=30, seconds=-1))
        token = refresh(anonymous, refresh_token).json()["token"]
        clock.shift(timedelta(seconds=1))
        assert outcome(refresh(anonymous, refresh_token))[:2] == (401, BAD_REFRESH)
        clock.shift(timedelta(seconds=3598))
        assert use(anonymous, token).status_code == 200
        clock.shift(timedelta(seconds=1))
        assert outcome(use(anonymous, token))[:2] == (401, BAD_TOKEN)


def test_tokens_are_signed_with_a_separate_key() -> None:
    key = project_settings.SIMPLE_JWT["SIGNING_KEY"]
    assert len(key) == 32
    assert key not in project_settings.SECRET_KEY.encode()
