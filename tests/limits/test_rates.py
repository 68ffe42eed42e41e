"""Requests per minute of a subject."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from common.errors import TooManyRequests
from limits.models import RequestCount
from limits.rates import delete_expired_requests, spend_request
from testing.attempts import age_minutes
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
