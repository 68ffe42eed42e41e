from datetime import UTC, datetime, timedelta, timezone

import pytest

from accounts.representations import account_age

NOW = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=-5), "today"),
        (timedelta(0), "today"),
        (timedelta(microseconds=1), "today"),
        (timedelta(hours=23, minutes=59, seconds=59, microseconds=999_999), "today"),
        (timedelta(days=1), "1 day"),
        (timedelta(days=1, hours=23, minutes=59), "1 day"),
        (timedelta(days=2), "2 days"),
        (timedelta(days=12), "12 days"),
        (timedelta(days=29, hours=23, minutes=59), "29 days"),
        (timedelta(days=30), "1 month"),
        (timedelta(days=59, hours=23), "1 month"),
        (timedelta(days=60), "2 months"),
        (timedelta(days=95), "3 months"),
        (timedelta(days=359), "11 months"),
        (timedelta(days=364, hours=23, minutes=59), "12 months"),
        (timedelta(days=365), "1 year"),
        (timedelta(days=729), "1 year"),
        (timedelta(days=730), "2 years"),
        (timedelta(days=3650), "10 years"),
    ],
)
def test_age_is_shown_in_the_largest_whole_unit(age: timedelta, words: str) -> None:
    assert account_age(NOW - age, NOW) == words


def test_time_zones_do_not_change_the_age() -> None:
    created = (NOW - timedelta(days=2)).astimezone(timezone(timedelta(hours=14)))
    assert account_age(created, NOW.astimezone(timezone(timedelta(hours=-12)))) == "2 days"
