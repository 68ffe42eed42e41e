"""Changing the password."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from django.contrib.sessions.models import Session as AdminSession
from django.db import transaction
from django.test import Client
from rest_framework.test import APIClient

from accounts import services
from accounts.models import EndReason, Session, User
from accounts.services import NewAccount, create_account
from accounts.sessions.lifecycle import SessionEnded
from testing.accounts.accounts import PASSWORD, account, bearer_client, log_in, token_client
from testing.threads import at_once
from tests.accounts.own_account import errors

NEW_PASSWORD = "another good password"
BAD_TOKEN = "The token is not valid or has expired."


def change_password(client: APIClient, current: str = PASSWORD, new: str = NEW_PASSWORD) -> Any:
    body = {"currentPassword": current, "newPassword": new}
    return client.post("/api/auth/change-password", body)


def status(access: str) -> int:
    return token_client(access).get("/api/urls").status_code


def can_log_in(password: str, email: str = "alice@example.com") -> bool:
    client = APIClient(headers={"host": "sho.rt"})
    response = client.post("/api/auth/login", {"email": email, "password": password})
    assert response.status_code in {200, 401}
    return response.status_code == 200


def test_a_change_of_password_ends_all_other_sessions(alice: NewAccount, stranger: NewAccount) -> None:
    current, other, strange = log_in(alice.user), log_in(alice.user), log_in(stranger.user)

    response = change_password(token_client(current.access))

    body = response.json()
    assert (response.status_code, body) == (
        200,
        {
            "success": True,
            "message": "Password changed successfully.",
            "token": body["token"],
            "refreshToken": body["refreshToken"],
        },
    )
    assert [status(tokens.access) for tokens in (current, other, strange)] == [401, 401, 200]
    client = token_client(body["token"])
    [session] = client.get("/api/auth/sessions").json()["data"]["sessions"]
    assert session["isCurrent"] is True
    assert Session.objects.get(user=alice.user, ended_at__isnull=False).end_reason == EndReason.PASSWORD
    for token in (current.refresh, other.refresh):
        assert client.post("/api/auth/refresh", {"refreshToken": token}).status_code == 401
    # The session goes on, also after its former refresh token was sent.
    refreshed = client.post("/api/auth/refresh", {"refreshToken": body["refreshToken"]})
    assert refreshed.status_code == 200
    assert status(refreshed.json()["token"]) == 200


def test_after_a_change_only_the_new_password_logs_in(alice: NewAccount, bearer: APIClient) -> None:
    assert change_password(bearer).status_code == 200
    assert (can_log_in(PASSWORD), can_log_in(NEW_PASSWORD)) == (False, True)


def test_a_change_of_password_ends_sessions_of_the_admin_and_keeps_the_key(db: None) -> None:
    operator = create_account(email="operator@example.com", password=PASSWORD, superuser=True)
    admin = Client(headers={"host": "sho.rt"})
    admin.force_login(operator.user)
    assert admin.get("/admin/").status_code == 200
    assert AdminSession.objects.count() == 1
    assert change_password(bearer_client(operator.user)).status_code == 200
    assert admin.get("/admin/").status_code == 302
    key = APIClient(headers={"host": "sho.rt", "x-api-key": operator.api_key})
    assert key.get("/api/urls").status_code == 200


def test_wrong_current_password_changes_nothing(alice: NewAccount, bearer: APIClient) -> None:
    other = log_in(alice.user)
    response = change_password(bearer, current="wrong")
    assert errors(response) == [("currentPassword", "wrong")]
    assert status(other.access) == 200
    assert can_log_in(PASSWORD)


@pytest.mark.parametrize(
    "password", ["short", "password123", "alice@example.com", "lovelace-ada"], ids=["short", "common", "email", "name"]
)  # fmt: skip
def test_weak_new_password_is_refused(password: str, alice: NewAccount, bearer: APIClient) -> None:
    User.objects.update(last_name="lovelace-ada")
    response = change_password(bearer, new=password)
    assert {("newPassword", "weak")} == set(errors(response))
    assert can_log_in(PASSWORD)


def test_wrong_current_passwords_count_as_failed_logins(alice: NewAccount, bearer: APIClient) -> None:
    for _ in range(5):
        assert change_password(bearer, current="wrong").status_code == 400
    for _ in range(5):
        assert not can_log_in("wrong")
    for response in (change_password(bearer), change_password(bearer, current="wrong")):
        assert (response.status_code, response.json()["code"]) == (429, "rate_limited")
    assert User.objects.get().check_password(PASSWORD)


def test_a_correct_current_password_does_not_count(bearer: APIClient) -> None:
    passwords = [PASSWORD, *(f"a good password no. {number}" for number in range(12))]
    for current, new in pairwise(passwords):
        response = change_password(bearer, current, new)
        assert response.status_code == 200
        bearer = token_client(response.json()["token"])


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_changes_one_succeeds_and_its_session_stays() -> None:
    user = account("alice@example.com").user
    clients = [token_client(log_in(user).access) for _ in range(2)]
    first, second = (f"a good password no. {number}" for number in range(2))

    responses = at_once(
        [lambda: change_password(clients[0], new=first), lambda: change_password(clients[1], new=second)]
    )

    # The other one was refused with its session, its former password, or before the comparison.
    [winner] = [response for response in responses if response.status_code == 200]
    [loser] = [response for response in responses if response is not winner]
    assert loser.status_code in {400, 401}
    assert [can_log_in(first), can_log_in(second)] == [response is winner for response in responses]
    assert status(winner.json()["token"]) == 200


def test_a_session_that_was_ended_meanwhile_cannot_change_the_password(alice: NewAccount) -> None:
    """Another request ends the session between authentication and the change."""
    log_in(alice.user)
    session = Session.objects.get()
    Session.objects.update(ended_at=session.created_at, end_reason=EndReason.REVOKED)
    with pytest.raises(SessionEnded, match=BAD_TOKEN), transaction.atomic():
        services.change_password(
            user=alice.user,
            session=session.pk,
            current_password=PASSWORD,
            new_password=NEW_PASSWORD,
            address="198.51.100.7",
        )
    assert can_log_in(PASSWORD)
