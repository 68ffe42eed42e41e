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
from testing.polling import DEADLINE

OFFICE, CAFE = "198.51.100.5", "203.0.113.9"


def test_a_network_stays_known_for_the_given_time(db: None) -> None:
    begin_guess("s", OFFICE).succeeded(known_for=timedelta(days=30))
    begin_guess("t", OFFICE).succeeded(known_for=timedelta(0))
    assert KnownNetwork.objects.count() == 2
    assert (delete_expired_networks(), KnownNetwork.objects.count()) == (1, 1)


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
