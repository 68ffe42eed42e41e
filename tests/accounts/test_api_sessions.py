"""The sessions of an account: listed, used and ended. A token of an ended session is invalid at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import jwt
import pytest
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from accounts.credentials.tokens import ACCESS_LIFETIME
from accounts.models import EndReason, Session, User
from accounts.services import NewAccount, rotate_api_key
from accounts.sessions import lifecycle, queries
from testing.accounts.accounts import PASSWORD, bearer_client, log_in, token_client
from testing.polling import DEADLINE, eventually
from testing.threads import at_once

NOT_FOUND = {"success": False, "message": "Session not found.", "code": "not_found"}
UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def alice(db: None) -> NewAccount:
    """Has no usable password: few tests here log in, and hashing one takes time."""
    user = User.objects.create(email="alice@example.com", password="!")
    return NewAccount(user, "", rotate_api_key(user=user))


@pytest.fixture
def stranger(db: None) -> NewAccount:
    user = User.objects.create(email="mallory@example.com", password="!")
    return NewAccount(user, "", rotate_api_key(user=user))


def sessions(client: APIClient) -> list[dict[str, Any]]:
    response = client.get("/api/auth/sessions")
    body = response.json()
    assert (response.status_code, body) == (200, {"success": True, "data": body["data"]})
    assert set(body["data"]) == {"sessions"}
    return body["data"]["sessions"]


def id_of(access: str) -> str:
    return jwt.decode(access, options={"verify_signature": False})["sid"]


def works(access: str) -> bool:
    status = token_client(access).get("/api/urls").status_code
    assert status in {200, 401}
    return status == 200


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


def disable(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def change_password_elsewhere(user: User) -> None:
    """Like the admin and `manage.py changepassword`, which know nothing of these sessions."""
    changed = User.objects.get(pk=user.pk)
    changed.set_password("another good password")
    changed.save()


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


# Queries and writes


# Each of these reads more: workspaces and second factors, and sessions.
@pytest.mark.parametrize(("path", "expected"), [("/api/auth/me", 3), ("/api/auth/sessions", 2)])
def test_session_and_account_are_read_in_one_query(
    path: str,
    expected: int,
    alice: NewAccount,
    settings: Any,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, 0)
    client = bearer_client(alice.user)
    for _ in range(9):
        log_in(alice.user)
    with django_assert_num_queries(expected):
        assert client.get(path).status_code == 200
    # Also in the minute's first request, which writes.
    Session.objects.update(last_used_at=F("last_used_at") - timedelta(hours=1))
    with django_assert_num_queries(expected):
        assert client.get(path).status_code == 200


def last_used() -> datetime:
    return Session.objects.get().last_used_at


def test_last_use_is_written_at_most_once_a_minute(alice: NewAccount, bearer: APIClient) -> None:
    assert queries.USE_SECONDS == 60
    for seconds, is_written in ((0, False), (60, True), (3600, True)):
        Session.objects.update(last_used_at=Now() - timedelta(seconds=seconds))
        before = last_used()
        bearer.get("/api/urls")
        assert (last_used() > before) is is_written


def end_all(user: User) -> None:
    Session.objects.filter(user=user).update(ended_at=Now())


@pytest.mark.parametrize("refuse", [end_all, disable, change_password_elsewhere])
def test_refused_tokens_are_no_use(
    refuse: Callable[[User], None], alice: NewAccount, bearer: APIClient
) -> None:
    Session.objects.update(last_used_at=Now() - timedelta(hours=1))
    refuse(alice.user)
    before = last_used()
    assert bearer.get("/api/urls").status_code == 401
    assert last_used() == before


def written_by() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT xmin::text FROM accounts_session")
        [(transaction_id,)] = cursor.fetchall()
    return transaction_id


def wait_for_blocked_connection() -> None:
    query = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

    def is_blocked() -> bool:
        with connection.cursor() as cursor:
            # Otherwise a transaction sees the activity of its first look.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(query)
            return cursor.fetchone() is not None

    eventually(is_blocked)


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_requests_one_writes_the_last_use() -> None:
    user = User.objects.create(email="alice@example.com", password="!")
    access = log_in(user).access
    Session.objects.update(last_used_at=Now() - timedelta(hours=1))

    def use() -> bool:
        try:
            return works(access)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as background:
        with transaction.atomic():
            # As the first of two requests.
            Session.objects.update(last_used_at=Now())
            first = written_by()
            second = background.submit(use)
            wait_for_blocked_connection()
        assert second.result()
    assert written_by() == first


# Housekeeping


def test_expired_sessions_are_deleted(alice: NewAccount, stranger: NewAccount) -> None:
    ended, _, kept = log_in(alice.user), log_in(alice.user), log_in(stranger.user)
    token_client(ended.access).post("/api/auth/logout")
    assert lifecycle.delete_expired_api_sessions() == 0
    Session.objects.filter(user=alice.user).update(expires_at=Now() - ACCESS_LIFETIME - timedelta(minutes=1))
    assert lifecycle.delete_expired_api_sessions() == 2
    assert [str(session.public_id) for session in Session.objects.all()] == [id_of(kept.access)]


def test_ended_sessions_are_deleted_after_a_week(alice: NewAccount) -> None:
    recent, former, kept = (log_in(alice.user) for _ in range(3))
    for tokens, days in ((recent, 6.9), (former, 7.1)):
        Session.objects.filter(public_id=id_of(tokens.access)).update(ended_at=Now() - timedelta(days=days))
    assert lifecycle.delete_expired_api_sessions() == 1
    assert {str(session.public_id) for session in Session.objects.all()} == {
        id_of(tokens.access) for tokens in (recent, kept)
    }


@pytest.mark.django_db(transaction=True)
def test_deletion_of_expired_sessions_waits_for_no_request() -> None:
    """Two transactions that lock several sessions in different orders would deadlock."""
    user = User.objects.create(email="alice@example.com", password="!")
    first, second = log_in(user), log_in(user)
    Session.objects.update(expires_at=Now() - ACCESS_LIFETIME - timedelta(minutes=1))

    def delete() -> int:
        try:
            return lifecycle.delete_expired_api_sessions()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as background, transaction.atomic():
        lifecycle.end(Session.objects.filter(public_id=id_of(second.access)), EndReason.PASSWORD)
        assert background.submit(delete).result(timeout=DEADLINE) == 1
        assert Session.objects.filter(public_id=id_of(first.access)).count() == 0
    assert lifecycle.delete_expired_api_sessions() == 1


def test_a_login_reads_no_ended_sessions(alice: NewAccount) -> None:
    log_in(alice.user)
    columns = "user_id, password_fingerprint, generation, issued_at, user_agent, expires_at"
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO accounts_session (public_id, {columns}, ended_at)"
            f" SELECT gen_random_uuid(), {columns}, now() FROM accounts_session, generate_series(1, 20000)"
        )
        cursor.execute("ANALYZE accounts_session")
    plan = lifecycle.live_sessions(alice.user)[49:100].explain(analyze=True)
    assert "session_live" in plan, plan
    assert "Rows Removed by Filter" not in plan, plan


def test_the_last_access_token_outlives_the_refresh_tokens(alice: NewAccount, bearer: APIClient) -> None:
    Session.objects.update(expires_at=Now() - ACCESS_LIFETIME + timedelta(minutes=30))
    assert lifecycle.delete_expired_api_sessions() == 0
    assert [session["isCurrent"] for session in sessions(bearer)] == [True]
