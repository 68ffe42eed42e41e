"""Attempts of a subject in a sliding window."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from common.errors import TooManyAttempts
from limits.attempts import Limit, delete_expired_attempts, spend_attempt, uncount_attempts
from testing.attempts import pass_time
from testing.connections import rows
from testing.polling import DEADLINE

SUBJECT = "login:alice@example.com"
FIVE_IN_A_MINUTE = Limit(attempts=5, seconds=60)


def attempts_stored() -> list[int]:
    return [count for (count,) in rows("SELECT cardinality(attempts) FROM limits_attemptlog")]


def passes(subject: str = SUBJECT, limit: Limit = FIVE_IN_A_MINUTE) -> bool:
    try:
        spend_attempt(subject, limit)
    except TooManyAttempts:
        return False
    return True


def retry_after(subject: str = SUBJECT, limit: Limit = FIVE_IN_A_MINUTE) -> int:
    with pytest.raises(TooManyAttempts) as refused:
        spend_attempt(subject, limit)
    return refused.value.retry_after


@pytest.mark.parametrize("attempts", [1, 2, 5, 10, 200])
def test_attempts_up_to_the_limit_pass(attempts: int, slow_clock: None) -> None:
    limit = Limit(attempts, 60)
    assert [passes(limit=limit) for _ in range(attempts + 3)] == [True] * attempts + [False] * 3


def test_retry_after_is_when_the_oldest_attempt_leaves_the_window(slow_clock: None) -> None:
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
        pass_time(seconds=10)
    # The five are 50, 40, 30, 20 and 10 seconds old.
    assert retry_after() == 10
    pass_time(seconds=4)
    assert retry_after() == 6
    pass_time(seconds=5.5)
    assert retry_after() == 1


def test_an_attempt_passes_after_retry_after_and_not_before(slow_clock: None) -> None:
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    wait = retry_after()
    assert wait == 60
    pass_time(seconds=wait - 1)
    assert passes() is False
    pass_time(seconds=1)
    assert passes() is True


def test_window_slides_attempt_by_attempt(slow_clock: None) -> None:
    """Unlike a bucket that refills at once: only attempts that left the window are available again."""
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
        pass_time(seconds=10)
    pass_time(seconds=10.5)  # 60.5, 50.5, 40.5, 30.5, 20.5
    assert [passes(), passes()] == [True, False]
    pass_time(seconds=10)  # 60.5, 50.5, 40.5, 30.5, 10
    assert [passes(), passes()] == [True, False]
    pass_time(seconds=20)  # 60.5, 50.5, 30, 20: two of the first five are out
    assert [passes(), passes(), passes()] == [True, True, False]


def test_refused_attempts_do_not_lengthen_the_lock_out(slow_clock: None) -> None:
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    for _ in range(50):
        assert passes() is False
    assert attempts_stored() == [5]
    pass_time(seconds=60.5)
    assert [passes() for _ in range(6)] == [True] * 5 + [False]


def test_no_more_attempts_than_the_limit_are_stored(slow_clock: None) -> None:
    for _ in range(4):
        assert [passes() for _ in range(6)] == [True] * 5 + [False]
        pass_time(seconds=61)
    assert attempts_stored() == [5]


def test_subjects_do_not_share_a_limit(slow_clock: None) -> None:
    assert [passes() for _ in range(6)] == [True] * 5 + [False]
    assert [passes("login:ALICE@example.com") for _ in range(6)] == [True] * 5 + [False]
    assert [passes("link:1") for _ in range(6)] == [True] * 5 + [False]


@pytest.mark.parametrize("subject", ["", "x" * 100_000, "ключ 🎉", "a\0b", "' OR 1=1 --", "%s"])
def test_subject_may_be_any_text(subject: str, slow_clock: None) -> None:
    assert [passes(subject, Limit(1, 60)) for _ in range(2)] == [True, False]


def test_a_lowered_limit_applies_at_once(slow_clock: None) -> None:
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    pass_time(seconds=30)
    assert passes(limit=Limit(3, 60)) is False
    assert retry_after(limit=Limit(3, 60)) == 30
    pass_time(seconds=31)
    assert [passes(limit=Limit(3, 60)) for _ in range(4)] == [True] * 3 + [False]


def test_a_raised_limit_applies_at_once(slow_clock: None) -> None:
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    assert [passes(limit=Limit(7, 60)) for _ in range(3)] == [True, True, False]


def test_an_uncounted_attempt_does_not_count(slow_clock: None) -> None:
    for _ in range(20):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
        uncount_attempts([SUBJECT])
    assert [passes() for _ in range(6)] == [True] * 5 + [False]


def test_uncounting_removes_one_attempt_of_one_subject(slow_clock: None) -> None:
    for subject in (SUBJECT, "another"):
        assert [passes(subject) for _ in range(6)] == [True] * 5 + [False]
    uncount_attempts([SUBJECT])
    assert [passes(), passes()] == [True, False]
    assert passes("another") is False


def test_uncounting_without_an_attempt_changes_nothing(slow_clock: None) -> None:
    uncount_attempts([SUBJECT])
    spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    for _ in range(3):
        uncount_attempts([SUBJECT])
    assert [passes() for _ in range(6)] == [True] * 5 + [False]


def test_subjects_with_expired_or_uncounted_attempts_are_deleted(slow_clock: None) -> None:
    spend_attempt("expired", FIVE_IN_A_MINUTE)
    pass_time(seconds=86_400 + 1)
    spend_attempt("uncounted", FIVE_IN_A_MINUTE)
    uncount_attempts(["uncounted"])
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    assert delete_expired_attempts() == 2
    assert delete_expired_attempts() == 0
    assert attempts_stored() == [5]
    assert passes() is False


def test_a_subject_with_a_recent_attempt_is_not_deleted(slow_clock: None) -> None:
    spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    pass_time(seconds=86_400 + 1)
    spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    assert delete_expired_attempts() == 0


def test_table_is_unlogged(slow_clock: None) -> None:
    assert rows("SELECT relpersistence::text FROM pg_class WHERE relname = 'limits_attemptlog'") == [("u",)]


def test_table_contains_only_a_keyed_digest(slow_clock: None, settings: Settings) -> None:
    spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    [(stored, length)] = rows("SELECT encode(subject, 'hex'), length(subject) FROM limits_attemptlog")
    assert length == 32
    [(dump,)] = rows("SELECT log::text FROM limits_attemptlog log")
    assert SUBJECT not in str(dump)
    assert SUBJECT.encode().hex() not in str(dump)
    # Keyed: a copy of the table without the secret does not reveal whether an e-mail address is in it.
    settings.SECRET_KEY = "another-secret-" + "y" * 50
    spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    assert len(rows("SELECT 1 FROM limits_attemptlog")) == 2
    assert rows(f"SELECT count(*) FROM limits_attemptlog WHERE subject = '\\x{stored}'") == [(1,)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("limit", [Limit(1, 900), Limit(10, 900), Limit(150, 900)])
def test_of_two_hundred_parallel_attempts_exactly_the_limit_passes(limit: Limit) -> None:
    """A hundred threads with separate connections start at the same time and try twice each."""
    threads = 100
    together = threading.Barrier(threads)

    def attempt_twice(_: int) -> list[bool]:
        try:
            connection.ensure_connection()
            together.wait(DEADLINE)
            return [passes(limit=limit), passes(limit=limit)]
        finally:
            connection.close()

    with ThreadPoolExecutor(threads) as pool:
        verdicts = [passed for pair in pool.map(attempt_twice, range(threads)) for passed in pair]
    assert len(verdicts) == 200
    assert sum(verdicts) == limit.attempts
    assert attempts_stored() == [limit.attempts]


LIMIT = Limit(attempts=1, seconds=60)


def delete_before_read(execute: Callable[..., Any], query: str, *arguments: Any) -> Any:
    if read := re.match(r"\s*SELECT .*\sFROM (\w+_attemptlog)", query, re.DOTALL):
        with connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {read[1]}")
    return execute(query, *arguments)


def test_refused_subject_that_was_deleted_meanwhile_may_retry_after_one_second(db: None) -> None:
    spend_attempt("subject", LIMIT)

    with connection.execute_wrapper(delete_before_read), pytest.raises(TooManyAttempts) as refusal:
        spend_attempt("subject", LIMIT)

    assert refusal.value.retry_after == 1
    spend_attempt("subject", LIMIT)
