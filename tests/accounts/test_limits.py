import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from pytest_django import Settings

from accounts.limits import Limit, forget_old_attempts, forgive_attempts, spend_attempt
from common.errors import TooManyAttempts
from tests.attempts import pass_time

SUBJECT = "login:alice@example.com"
FIVE_IN_A_MINUTE = Limit(attempts=5, seconds=60)


def rows(query: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def attempts_kept() -> list[int]:
    return [count for (count,) in rows("SELECT cardinality(attempts) FROM accounts_attemptlog")]


def passes(subject: str = SUBJECT, limit: Limit = FIVE_IN_A_MINUTE) -> bool:
    try:
        spend_attempt(subject, limit)
    except TooManyAttempts:
        return False
    return True


def wait_told(subject: str = SUBJECT, limit: Limit = FIVE_IN_A_MINUTE) -> int:
    with pytest.raises(TooManyAttempts) as refused:
        spend_attempt(subject, limit)
    return refused.value.retry_after


@pytest.mark.parametrize("attempts", [1, 2, 5, 10, 200])
def test_exactly_so_many_attempts_pass(attempts: int, db: None) -> None:
    limit = Limit(attempts, 60)
    assert [passes(limit=limit) for _ in range(attempts + 3)] == [True] * attempts + [False] * 3


def test_refusal_tells_when_the_oldest_attempt_leaves_the_window(db: None) -> None:
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
        pass_time(seconds=10)
    # The five are 50, 40, 30, 20 and 10 seconds old.
    assert wait_told() == 10
    pass_time(seconds=4)
    assert wait_told() == 6
    pass_time(seconds=5.5)
    assert wait_told() == 1


def test_wait_that_is_told_is_the_wait_that_is_needed(db: None) -> None:
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    wait = wait_told()
    assert wait == 60
    pass_time(seconds=wait - 1)
    assert passes() is False
    pass_time(seconds=1)
    assert passes() is True


def test_window_slides_attempt_by_attempt(db: None) -> None:
    """No bucket that fills anew at once: what left the window a moment ago is all that comes back."""
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
        pass_time(seconds=10)
    pass_time(seconds=10.5)  # 60.5, 50.5, 40.5, 30.5, 20.5
    assert [passes(), passes()] == [True, False]
    pass_time(seconds=10)  # 60.5, 50.5, 40.5, 30.5, 10
    assert [passes(), passes()] == [True, False]
    pass_time(seconds=20)  # 60.5, 50.5, 30, 20: two of the first five are out
    assert [passes(), passes(), passes()] == [True, True, False]


def test_refused_attempts_do_not_lengthen_the_lock_out(db: None) -> None:
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    for _ in range(50):
        assert passes() is False
    assert attempts_kept() == [5]
    pass_time(seconds=60.5)
    assert [passes() for _ in range(6)] == [True] * 5 + [False]


def test_no_more_than_the_limit_is_kept(db: None) -> None:
    for _ in range(4):
        assert [passes() for _ in range(6)] == [True] * 5 + [False]
        pass_time(seconds=61)
    assert attempts_kept() == [5]


def test_subjects_do_not_share_a_limit(db: None) -> None:
    assert [passes() for _ in range(6)] == [True] * 5 + [False]
    assert [passes("login:ALICE@example.com") for _ in range(6)] == [True] * 5 + [False]
    assert [passes("link:1") for _ in range(6)] == [True] * 5 + [False]


@pytest.mark.parametrize("subject", ["", "x" * 100_000, "ключ 🎉", "a\0b", "' OR 1=1 --", "%s"])
def test_subject_may_be_any_text(subject: str, db: None) -> None:
    assert [passes(subject, Limit(1, 60)) for _ in range(2)] == [True, False]


def test_limit_that_was_lowered_holds_at_once(db: None) -> None:
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    pass_time(seconds=30)
    assert passes(limit=Limit(3, 60)) is False
    assert wait_told(limit=Limit(3, 60)) == 30
    pass_time(seconds=31)
    assert [passes(limit=Limit(3, 60)) for _ in range(4)] == [True] * 3 + [False]


def test_limit_that_was_raised_lets_more_pass(db: None) -> None:
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    assert [passes(limit=Limit(7, 60)) for _ in range(3)] == [True, True, False]


def test_forgiven_attempt_may_be_made_again(db: None) -> None:
    for _ in range(20):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
        forgive_attempts([SUBJECT])
    assert [passes() for _ in range(6)] == [True] * 5 + [False]


def test_forgiveness_takes_back_one_attempt_of_one_subject(db: None) -> None:
    for subject in (SUBJECT, "another"):
        assert [passes(subject) for _ in range(6)] == [True] * 5 + [False]
    forgive_attempts([SUBJECT])
    assert [passes(), passes()] == [True, False]
    assert passes("another") is False


def test_forgiveness_of_what_never_was_changes_nothing(db: None) -> None:
    forgive_attempts([SUBJECT])
    spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    for _ in range(3):
        forgive_attempts([SUBJECT])
    assert [passes() for _ in range(6)] == [True] * 5 + [False]


def test_forgetting_deletes_what_no_window_reaches(db: None) -> None:
    spend_attempt("over", FIVE_IN_A_MINUTE)
    pass_time(seconds=86_400 + 1)
    spend_attempt("forgiven", FIVE_IN_A_MINUTE)
    forgive_attempts(["forgiven"])
    for _ in range(5):
        spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    assert forget_old_attempts() == 2
    assert forget_old_attempts() == 0
    assert attempts_kept() == [5]
    assert passes() is False


def test_one_recent_attempt_keeps_the_older_ones(db: None) -> None:
    spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    pass_time(seconds=86_400 + 1)
    spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    assert forget_old_attempts() == 0


def test_table_is_unlogged(db: None) -> None:
    assert rows("SELECT relpersistence::text FROM pg_class WHERE relname = 'accounts_attemptlog'") == [("u",)]


def test_table_names_nobody(db: None, settings: Settings) -> None:
    spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    [(stored, length)] = rows("SELECT encode(subject, 'hex'), length(subject) FROM accounts_attemptlog")
    assert length == 32
    [(dump,)] = rows("SELECT log::text FROM accounts_attemptlog log")
    assert SUBJECT not in str(dump)
    assert SUBJECT.encode().hex() not in str(dump)
    # Keyed: whoever has the table but not the secret cannot try e-mails against it.
    settings.SECRET_KEY = "another-secret-" + "y" * 50
    spend_attempt(SUBJECT, FIVE_IN_A_MINUTE)
    assert len(rows("SELECT 1 FROM accounts_attemptlog")) == 2
    assert rows(f"SELECT count(*) FROM accounts_attemptlog WHERE subject = '\\x{stored}'") == [(1,)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("limit", [Limit(1, 900), Limit(10, 900), Limit(150, 900)])
def test_of_two_hundred_parallel_attempts_exactly_the_limit_passes(limit: Limit) -> None:
    """A hundred threads, each with a connection of its own, try twice from the same moment on."""
    threads = 100
    together = threading.Barrier(threads)

    def attempt_twice(_: int) -> list[bool]:
        try:
            connection.ensure_connection()
            together.wait(30)
            return [passes(limit=limit), passes(limit=limit)]
        finally:
            connection.close()

    with ThreadPoolExecutor(threads) as pool:
        answers = [passed for pair in pool.map(attempt_twice, range(threads)) for passed in pair]
    assert len(answers) == 200
    assert sum(answers) == limit.attempts
    assert attempts_kept() == [limit.attempts]
