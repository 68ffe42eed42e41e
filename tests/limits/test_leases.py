"""Concurrent calls of a subject."""

from __future__ import annotations

from django.db import connection
from pytest_django import Settings

from limits.models import AttemptLog
from limits.rates import Lease, acquire_lease, release_lease
from testing.attempts import pass_time


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
