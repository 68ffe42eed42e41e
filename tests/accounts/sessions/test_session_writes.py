"""What sessions cost: queries of a request, writes of the last use, and housekeeping."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from accounts.callers import USE_SECONDS
from accounts.models import EndReason, Session, User
from accounts.services import NewAccount
from accounts.sessions import lifecycle
from accounts.sessions.tokens import ACCESS_LIFETIME
from testing.accounts.accounts import bearer_client, log_in, token_client, works
from testing.accounts.fixtures import alice as alice
from testing.polling import DEADLINE, eventually
from tests.accounts.sessions.listed_sessions import change_password_elsewhere, id_of, sessions
from tests.accounts.sessions.listed_sessions import stranger as stranger


def disable(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


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
    assert USE_SECONDS == 60
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
