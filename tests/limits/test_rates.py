"""Requests per minute and concurrent calls of a subject."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from pytest_django import Settings

from common.errors import TooManyRequests
from limits.models import AttemptLog, RequestCount
from limits.rates import (
    Lease,
    acquire_lease,
    delete_expired_requests,
    release_lease,
    renew_lease,
    spend_request,
)
from testing.attempts import age_minutes, pass_time
from testing.connections import rows
from testing.threads import at_once

SUBJECT = "network 203.0.113.0/24"


def test_the_first_request_starts_a_minute(slow_clock: None) -> None:
    assert spend_request(SUBJECT, 2) == (2, 1, 60)
    age_minutes(seconds=45)
    assert spend_request(SUBJECT, 2) == (2, 0, 15)
    with pytest.raises(TooManyRequests) as refused:
        spend_request(SUBJECT, 2)
    assert refused.value.retry_after == 15
    age_minutes(seconds=15)
    assert spend_request(SUBJECT, 2) == (2, 1, 60)


def test_counts_of_past_minutes_are_deleted(slow_clock: None) -> None:
    spend_request("past", 5)
    age_minutes(seconds=61)
    spend_request("present", 5)

    assert (delete_expired_requests(), delete_expired_requests()) == (1, 0)
    assert spend_request("present", 5).remaining == 3


def test_table_is_unlogged_and_contains_only_a_keyed_digest(slow_clock: None, settings: Settings) -> None:
    spend_request(SUBJECT, 5)

    assert rows("SELECT relpersistence::text FROM pg_class WHERE relname = 'limits_requestcount'") == [("u",)]
    assert rows("SELECT length(subject), requests FROM limits_requestcount") == [(32, 1)]
    [(dump,)] = rows("SELECT c::text FROM limits_requestcount c")
    assert "203.0.113" not in dump
    assert b"203.0.113".hex() not in dump
    settings.SECRET_KEY = "another-secret-" + "y" * 50
    spend_request(SUBJECT, 5)
    assert RequestCount.objects.count() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("limit", [1, 60, 150])
def test_of_two_hundred_parallel_requests_exactly_the_limit_passes(limit: int) -> None:
    def twice() -> list[bool]:
        return [passes(), passes()]

    def passes() -> bool:
        try:
            spend_request("somebody", limit)
        except TooManyRequests:
            return False
        return True

    verdicts = [passed for pair in at_once([twice] * 100) for passed in pair]

    assert (len(verdicts), sum(verdicts)) == (200, limit)
    assert rows("SELECT requests FROM limits_requestcount") == [(200,)]


def acquire(subject: str = "calls of alice") -> Lease | None:
    return acquire_lease(subject, limit=2, seconds=120)


def test_calls_above_the_limit_get_no_lease(slow_clock: None) -> None:
    assert [bool(acquire()) for _ in range(4)] == [True, True, False, False]


def test_subjects_do_not_share_a_limit(slow_clock: None) -> None:
    assert [bool(acquire()) for _ in range(3)] == [True, True, False]
    assert bool(acquire("calls of mallory")) is True


def test_a_released_lease_permits_one_more_call(slow_clock: None) -> None:
    leases = [acquire(), acquire()]
    assert leases[0] is not None
    release_lease(leases[0])
    release_lease(leases[0])
    assert [bool(acquire()) for _ in range(2)] == [True, False]


def test_a_lease_expires_unless_it_is_released(slow_clock: None) -> None:
    acquire()
    pass_time(seconds=119)
    assert [bool(acquire()) for _ in range(2)] == [True, False]
    pass_time(seconds=1)
    assert [bool(acquire()) for _ in range(2)] == [True, False]


def test_a_renewed_lease_expires_later(slow_clock: None) -> None:
    def older(lease: Lease | None, seconds: int) -> Lease:
        assert lease is not None
        pass_time(seconds=seconds)
        return lease._replace(started=lease.started - timedelta(seconds=seconds))

    renewed = renew_lease(older(acquire(), 119), seconds=120)
    assert bool(acquire()) is True
    expired = older(renewed, 119)
    assert bool(acquire()) is False
    expired = older(expired, 1)
    assert renew_lease(expired, seconds=120) is None
    released = acquire()
    assert released is not None
    release_lease(released)
    assert renew_lease(released, seconds=120) is None


def test_table_contains_only_a_keyed_digest(slow_clock: None, settings: Settings) -> None:
    acquire()
    with connection.cursor() as cursor:
        cursor.execute("SELECT length(subject), log::text FROM limits_attemptlog log")
        [(length, dump)] = cursor.fetchall()
    assert length == 32
    assert b"alice".hex() not in dump
    settings.SECRET_KEY = "another-secret-" + "y" * 50
    acquire()
    assert AttemptLog.objects.count() == 2
