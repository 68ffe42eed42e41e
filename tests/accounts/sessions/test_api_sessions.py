"""The sessions of an account: listed, used and ended. A token of an ended session is invalid at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from rest_framework.test import APIClient

from accounts.models import EndReason, Session, User
from accounts.services import NewAccount
from accounts.sessions import lifecycle
from accounts.sessions.tokens import ACCESS_LIFETIME
from testing.accounts.accounts import PASSWORD, bearer_client, log_in, token_client, works
from testing.accounts.fixtures import alice as alice
from testing.threads import at_once
from tests.accounts.sessions.listed_sessions import change_password_elsewhere, id_of, sessions
from tests.accounts.sessions.listed_sessions import stranger as stranger

NOT_FOUND = {"success": False, "message": "Session not found.", "code": "not_found"}
UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


def test_list_has_every_session_and_marks_the_current_one(alice: NewAccount, stranger: NewAccount) -> None:
    first, second = log_in(alice.user), log_in(alice.user)
    log_in(stranger.user)
    listed = sessions(token_client(first.access))
    assert [(session["_id"], session["isCurrent"]) for session in listed] == [
        (id_of(second.access), False),
        (id_of(first.access), True),
    ]
    names = {"_id", "createdAt", "lastUsedAt", "expiresAt", "userAgent", "isCurrent"}
    assert [set(session) for session in listed] == [names] * 2


def test_list_has_the_times_of_the_session(alice: NewAccount, bearer: APIClient) -> None:
    row = Session.objects.get()
    [session] = sessions(bearer)
    times = [session[name] for name in ("createdAt", "lastUsedAt", "expiresAt")]
    assert [datetime.fromisoformat(time) for time in times] == [
        row.created_at,
        row.last_used_at,
        row.issued_at + timedelta(days=30),
    ]


@pytest.mark.parametrize(
    ("user_agent", "listed"),
    [("curl/8.5.0", "curl/8.5.0"), ("", ""), ("x" * 300, "x" * 200), ("a\x7f\x1bb\u00e9", "ab\u00e9")],
    ids=["usual", "none", "long", "control characters"],
)
def test_login_stores_its_user_agent_shortened_and_printable(
    user_agent: str, listed: str, anonymous: APIClient, alice: NewAccount
) -> None:
    alice.user.set_password(PASSWORD)
    alice.user.save()
    tokens = anonymous.post(
        "/api/auth/login",
        {"email": alice.user.email, "password": PASSWORD},
        headers={"user-agent": user_agent},
    ).json()
    assert [session["userAgent"] for session in sessions(token_client(tokens["token"]))] == [listed]


def test_no_table_contains_the_address_of_a_session(alice: NewAccount, anonymous: APIClient) -> None:
    alice.user.set_password(PASSWORD)
    alice.user.save()
    credentials = {"email": alice.user.email, "password": PASSWORD}
    anonymous.post("/api/auth/login", credentials, REMOTE_ADDR="198.51.100.77")
    with connection.cursor() as cursor:
        cursor.execute("SELECT s::text FROM accounts_session s")
        [(row,)] = cursor.fetchall()
    assert "198.51.100" not in row


def test_logout_ends_only_the_session_of_the_token(alice: NewAccount, stranger: NewAccount) -> None:
    first, second, strange = log_in(alice.user), log_in(alice.user), log_in(stranger.user)
    response = token_client(first.access).post("/api/auth/logout")
    assert (response.status_code, response.json()) == (
        200,
        {"success": True, "message": "Logged out successfully."},
    )
    assert [works(tokens.access) for tokens in (first, second, strange)] == [False, True, True]
    assert [session["_id"] for session in sessions(token_client(second.access))] == [id_of(second.access)]
    assert Session.objects.get(ended_at__isnull=False).end_reason == EndReason.LOGOUT


def test_another_session_can_be_ended(alice: NewAccount) -> None:
    kept, ended = log_in(alice.user), log_in(alice.user)
    client = token_client(kept.access)
    assert works(ended.access)
    response = client.delete(f"/api/auth/sessions/{id_of(ended.access)}")
    assert (response.status_code, response.json()) == (
        200,
        {"success": True, "message": "Session ended successfully."},
    )
    assert (works(kept.access), works(ended.access)) == (True, False)
    refreshed = client.post("/api/auth/refresh", {"refreshToken": ended.refresh})
    assert refreshed.status_code == 401
    again = client.delete(f"/api/auth/sessions/{id_of(ended.access)}")
    assert (again.status_code, again.json()) == (404, NOT_FOUND)
    assert Session.objects.get(ended_at__isnull=False).end_reason == EndReason.REVOKED


def test_the_current_session_can_be_ended(alice: NewAccount) -> None:
    access = log_in(alice.user).access
    assert token_client(access).delete(f"/api/auth/sessions/{id_of(access)}").status_code == 200
    assert not works(access)


def test_unknown_session_is_404(alice: NewAccount, bearer: APIClient) -> None:
    response = bearer.delete(f"/api/auth/sessions/{UNKNOWN_ID}")
    assert (response.status_code, response.json()) == (404, NOT_FOUND)


def test_a_strangers_session_is_404_and_stays(alice: NewAccount, stranger: NewAccount) -> None:
    hers = log_in(alice.user)
    client = bearer_client(stranger.user)
    response = client.delete(f"/api/auth/sessions/{id_of(hers.access)}")
    assert (response.status_code, response.json()) == (404, NOT_FOUND)
    assert works(hers.access)
    assert id_of(hers.access) not in str(sessions(client))


@pytest.mark.django_db(transaction=True)
def test_ended_session_is_refused_on_every_connection_before_the_response() -> None:
    """Checked on another connection, as another worker would."""
    user = User.objects.create(email="alice@example.com", password="!")
    kept = token_client(log_in(user).access)

    def check(access: str) -> bool:
        try:
            return works(access)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as background:
        for _ in range(10):
            access = log_in(user).access
            assert background.submit(check, access).result()
            assert kept.delete(f"/api/auth/sessions/{id_of(access)}").status_code == 200
            assert not background.submit(check, access).result()


def test_sessions_from_before_a_change_of_password_elsewhere_are_not_listed(alice: NewAccount) -> None:
    access = log_in(alice.user).access
    change_password_elsewhere(alice.user)
    assert not works(access)
    user = User.objects.get(pk=alice.user.pk)
    newer = log_in(user).access
    assert [session["_id"] for session in sessions(token_client(newer))] == [id_of(newer)]


def test_no_session_starts_with_a_password_that_was_changed_meanwhile(alice: NewAccount) -> None:
    change_password_elsewhere(alice.user)
    assert lifecycle.start_session(alice.user) is None
    assert Session.objects.count() == 0


def test_above_the_limit_the_oldest_session_ends(
    alice: NewAccount, stranger: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lifecycle.MAX_SESSIONS == 50
    monkeypatch.setattr(lifecycle, "MAX_SESSIONS", 3)
    strange = log_in(stranger.user)
    tokens = [log_in(alice.user).access for _ in range(5)]
    assert [works(access) for access in tokens] == [False, False, True, True, True]
    assert works(strange.access)
    ended = Session.objects.exclude(ended_at=None)
    assert {session.end_reason for session in ended} == {EndReason.LIMIT}


def test_ended_and_expired_sessions_do_not_count_towards_the_limit(
    alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "MAX_SESSIONS", 2)
    kept, ended = log_in(alice.user).access, log_in(alice.user).access
    token_client(ended).post("/api/auth/logout")
    newer = log_in(alice.user).access
    assert (works(kept), works(newer)) == (True, True)
    Session.objects.filter(public_id=id_of(newer)).update(expires_at=Now() - ACCESS_LIFETIME)
    log_in(alice.user)
    assert works(kept)


@pytest.mark.django_db(transaction=True)
def test_concurrent_logins_respect_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "MAX_SESSIONS", 5)
    user = User.objects.create(email="alice@example.com", password="!")
    tokens = at_once([lambda: log_in(user).access] * 30)
    assert len({id_of(access) for access in tokens}) == 30
    assert Session.objects.filter(ended_at=None).count() == 5
