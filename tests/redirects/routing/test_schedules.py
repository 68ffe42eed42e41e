"""Schedules at moments of the wall clock, and across the changes of daylight-saving time in Berlin in 2027."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import inf
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from links.fields import DAYS
from redirects.rule_conditions import Period, Schedule

BERLIN = "Europe/Berlin"
# 2027: at 02:00 CET on 28 March, and at 03:00 CEST on 31 October; both are Sundays, and both are 01:00 UTC.
SPRING, AUTUMN = datetime(2027, 3, 28, 1, tzinfo=UTC), datetime(2027, 10, 31, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def schedule(days: str, opens: str, closes: str, timezone: str = BERLIN) -> Schedule:
    return Schedule({"days": days.split(), "from": opens, "until": closes, "timezone": timezone})


def utc(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def local(text: str, timezone: str = BERLIN) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(timezone)).timestamp()


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("2027-06-07T08:59:59.999", False),  # a Monday
        ("2027-06-07T09:00:00", True),
        ("2027-06-07T16:59:59.999", True),
        ("2027-06-07T17:00:00", False),
        ("2027-06-08T12:00:00", False),
        ("2027-06-09T12:00:00", True),
    ],
)
def test_a_schedule_is_open_from_its_start_until_before_its_end(text: str, is_open: bool) -> None:
    assert schedule("mon wed", "09:00", "17:00").is_open(local(text)) == is_open


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("2027-06-11T21:59:59", False),  # a Friday
        ("2027-06-11T22:00:00", True),
        ("2027-06-12T05:59:59", True),
        ("2027-06-12T06:00:00", False),
        ("2027-06-12T22:00:00", False),
        ("2027-06-11T03:00:00", False),
    ],
)
def test_a_schedule_over_midnight_belongs_to_the_day_on_which_it_starts(text: str, is_open: bool) -> None:
    assert schedule("fri", "22:00", "06:00").is_open(local(text)) == is_open


@pytest.mark.parametrize(
    ("text", "is_open"),
    [("2027-06-12T23:59:59", False), ("2027-06-13T00:00:00", True), ("2027-06-13T23:59:59", True),
     ("2027-06-14T00:00:00", False)],
)  # fmt: skip
def test_midnight_to_midnight_is_the_whole_day(text: str, is_open: bool) -> None:
    assert schedule("sun", "00:00", "00:00").is_open(local(text)) == is_open


def test_a_schedule_follows_its_own_time_zone() -> None:
    moment = utc("2027-06-07T08:00")

    assert schedule("mon", "09:00", "17:00", "Europe/Berlin").is_open(moment)
    assert not schedule("mon", "09:00", "17:00", "America/New_York").is_open(moment)
    assert schedule("mon", "17:00", "18:00", "Asia/Tokyo").is_open(moment)


# The open minutes of a day, as UTC.
CHANGES_OF_TIME = [
    # In spring, 02:00 to 03:00 does not exist: the day has 23 hours.
    ("sun", "00:00", "00:00", SPRING, ["2027-03-27T23:00", "2027-03-28T22:00"]),
    ("sun", "01:30", "03:30", SPRING, ["2027-03-28T00:30", "2027-03-28T01:30"]),
    ("sun", "02:30", "03:30", SPRING, ["2027-03-28T01:00", "2027-03-28T01:30"]),
    ("sun", "02:15", "02:45", SPRING, []),
    ("sun", "01:00", "02:30", SPRING, ["2027-03-28T00:00", "2027-03-28T01:00"]),
    ("sat", "22:00", "06:00", SPRING, ["2027-03-27T21:00", "2027-03-28T04:00"]),
    # In autumn, 02:00 to 03:00 exists twice: the day has 25 hours.
    ("sun", "00:00", "00:00", AUTUMN, ["2027-10-30T22:00", "2027-10-31T23:00"]),
    ("sun", "01:30", "03:30", AUTUMN, ["2027-10-30T23:30", "2027-10-31T02:30"]),
    ("sun", "02:15", "02:45", AUTUMN,
     ["2027-10-31T00:15", "2027-10-31T00:45", "2027-10-31T01:15", "2027-10-31T01:45"]),
    ("sun", "01:00", "02:30", AUTUMN,
     ["2027-10-30T23:00", "2027-10-31T00:30", "2027-10-31T01:00", "2027-10-31T01:30"]),
    ("sat", "22:00", "06:00", AUTUMN, ["2027-10-30T20:00", "2027-10-31T05:00"]),
]  # fmt: skip


@pytest.mark.parametrize(("days", "opens", "closes", "change", "boundaries"), CHANGES_OF_TIME)
def test_a_schedule_follows_the_wall_clock_when_the_clocks_change(
    days: str, opens: str, closes: str, change: datetime, boundaries: list[str]
) -> None:
    tested = schedule(days, opens, closes)
    minutes = [(change + number * MINUTE).timestamp() for number in range(-2 * 24 * 60, 2 * 24 * 60)]

    switched = [
        after for before, after in pairwise(minutes) if tested.is_open(before) != tested.is_open(after)
    ]

    assert switched == [utc(text) for text in boundaries]


@pytest.mark.parametrize(("days", "opens", "closes", "change", "boundaries"), CHANGES_OF_TIME)
def test_every_change_of_a_schedule_is_announced(
    days: str, opens: str, closes: str, change: datetime, boundaries: list[str]
) -> None:
    tested = schedule(days, opens, closes)
    moment, announced = (change - 2 * timedelta(days=1)).timestamp(), []
    while moment < (change + timedelta(days=2)).timestamp():
        moment = tested.next_change(moment)
        announced.append(moment)

    assert {utc(text) for text in boundaries} <= set(announced)
    assert announced == sorted(set(announced))


schedules = st.builds(
    lambda days, opens, closes, zone: schedule(" ".join(days), f"{opens:%H:%M}", f"{closes:%H:%M}", zone),
    st.lists(st.sampled_from(DAYS), min_size=1, unique=True),
    st.times(),
    st.times(),
    st.sampled_from([BERLIN, "UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]),
)


@given(
    tested=schedules,
    moment=st.floats(datetime(2026, 1, 1, tzinfo=UTC).timestamp(), datetime(2029, 1, 1, tzinfo=UTC).timestamp()),
    share=st.floats(0, 1, exclude_max=True),
)  # fmt: skip
def test_a_schedule_does_not_change_before_the_announced_moment(
    tested: Schedule, moment: float, share: float
) -> None:
    change = tested.next_change(moment)
    between = moment + share * (min(change, moment + 30 * 86_400) - moment)

    assert change > moment
    assert tested.is_open(between) == tested.is_open(moment) or between >= change


@pytest.mark.parametrize(
    ("raw", "open_at", "closed_at", "changes"),
    [
        ({"from": "2027-01-01T00:00:00Z"}, ["2027-01-01"], ["2026-12-31T23:59:59"], ["2027-01-01", None]),
        ({"until": "2027-01-01T00:00:00Z"}, ["2026-12-31T23:59:59"], ["2027-01-01"], ["2027-01-01", None]),
        (
            {"from": "2027-01-01T00:00:00Z", "until": "2027-02-01T00:00:00+01:00"},
            ["2027-01-01", "2027-01-31T22:59:59"],
            ["2026-12-31", "2027-01-31T23:00"],
            ["2027-01-01", "2027-01-31T23:00", None],
        ),
    ],
)
def test_a_period_is_open_from_its_start_until_before_its_end(
    raw: dict[str, str], open_at: list[str], closed_at: list[str], changes: list[str | None]
) -> None:
    period = Period(raw)

    assert [period.is_open(utc(text)) for text in open_at] == [True] * len(open_at)
    assert [period.is_open(utc(text)) for text in closed_at] == [False] * len(closed_at)
    moment, announced = utc("2020-01-01"), []
    while moment < inf:
        moment = period.next_change(moment)
        announced.append(moment)
    assert announced == [utc(text) if text else inf for text in changes]
