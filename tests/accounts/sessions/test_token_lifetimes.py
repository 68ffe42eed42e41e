"""Which token refreshes or opens an account, and when it ends."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.conf import settings as project_settings
from rest_framework.response import Response
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from tests.accounts.sessions.logins import WRONG, disable, log_in, outcome, use
from tests.accounts.sessions.logins import alice as alice

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


def refresh(client: APIClient, token: str) -> Response:
    return client.post("/api/auth/refresh", {"refreshToken": token})


def change_password(user: User) -> None:
    user.set_password("another good password")
    user.save()


def delete(user: User) -> None:
    user.delete()


REVOCATIONS = pytest.mark.parametrize("revoke", [change_password, disable, delete])


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
