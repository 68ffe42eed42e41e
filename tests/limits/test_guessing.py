"""Guesses at a secret. tests/accounts/test_guessing.py tests the same limits through logins."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection

from common.errors import TooManyAttempts
from limits.guessing import begin_guess, delete_expired_networks
from limits.models import KnownNetwork
from testing.attempts import pass_time
from testing.cases import for_each
from testing.polling import DEADLINE

OFFICE, CAFE = "198.51.100.5", "203.0.113.9"


def refusal(address: str) -> tuple[int, int | None, int | None] | None:
    try:
        begin_guess("s", address)
    except TooManyAttempts as refused:
        return refused.retry_after, refused.limit, refused.window
    return None


def test_a_network_stays_known_for_the_given_time(db: None) -> None:
    begin_guess("s", OFFICE).succeeded(known_for=timedelta(days=30))
    begin_guess("t", OFFICE).succeeded(known_for=timedelta(0))
    assert KnownNetwork.objects.count() == 2
    assert (delete_expired_networks(), KnownNetwork.objects.count()) == (1, 1)


@for_each("older", [0, 3])
@pytest.mark.slow
def test_an_attack_is_a_hundred_failures_within_an_hour(older: int, slow_clock: None) -> None:
    for number in range(older):
        begin_guess("s", f"11.{number}.0.1")
    pass_time(seconds=3600)
    begin_guess("s", "10.0.0.1")
    pass_time(seconds=10)
    for number in range(1, 97):
        begin_guess("s", f"10.{number}.0.1")
    pass_time(seconds=3580)
    assert [refusal(CAFE) for _ in range(4)] == [None, None, None, (900, 2, 900)]
    pass_time(seconds=9)
    assert refusal(CAFE) == (891, 2, 900)
    # The first failure is an hour old.
    pass_time(seconds=1)
    assert refusal(CAFE) is None


def test_thirty_failures_of_a_site_within_an_hour_are_its_limit(slow_clock: None) -> None:
    refusals = [refusal(f"2001:db8:7:{number:x}00::1") for number in range(31)]
    assert refusals == [None] * 30 + [(3600, 30, 3600)]


@pytest.mark.django_db(transaction=True)
def test_of_many_parallel_first_guesses_under_attack_two_pass() -> None:
    for number in range(100):
        begin_guess("s", f"10.{number}.0.1")
    together = threading.Barrier(20)

    def guess(_: int) -> bool:
        try:
            connection.ensure_connection()
            together.wait(DEADLINE)
            begin_guess("s", CAFE)
        except TooManyAttempts:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(guess, range(20))) == 2
