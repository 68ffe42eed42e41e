from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analytics.reports.periods import FIRST_DAY, LAST_DAY, Interval, Period, label, midnight


def period(first: str, last: str, zone: str = "UTC") -> Period:
    named = UTC if zone == "UTC" else ZoneInfo(zone)
    return Period(date.fromisoformat(first), date.fromisoformat(last), named)


def labels(requested: Period, interval: Interval) -> list[str]:
    return [label(step, interval) for step in requested.steps(interval)]


def test_days() -> None:
    assert labels(period("2024-02-28", "2024-03-01"), "day") == ["2024-02-28", "2024-02-29", "2024-03-01"]


def test_partial_months_are_included() -> None:
    assert labels(period("2024-11-30", "2025-02-01"), "month") == ["2024-11", "2024-12", "2025-01", "2025-02"]


def test_hours_of_utc() -> None:
    hour_labels = labels(period("2026-01-01", "2026-01-02"), "hour")
    assert (len(hour_labels), hour_labels[0], hour_labels[-1]) == (
        48,
        "2026-01-01T00:00:00Z",
        "2026-01-02T23:00:00Z",
    )


def test_zone_with_offset_zero_is_labelled_as_a_zone() -> None:
    assert (
        labels(period("2026-01-01", "2026-01-01", "Europe/London"), "hour")[0] == "2026-01-01T00:00:00+00:00"
    )


def test_day_of_23_hours() -> None:
    hour_labels = labels(period("2026-03-29", "2026-03-29", "Europe/Berlin"), "hour")
    assert len(hour_labels) == 23
    assert hour_labels[:4] == [
        "2026-03-29T00:00:00+01:00",
        "2026-03-29T01:00:00+01:00",
        "2026-03-29T03:00:00+02:00",
        "2026-03-29T04:00:00+02:00",
    ]


def test_day_of_25_hours() -> None:
    hour_labels = labels(period("2026-10-25", "2026-10-25", "Europe/Berlin"), "hour")
    assert len(hour_labels) == 25
    assert hour_labels[1:5] == [
        "2026-10-25T01:00:00+02:00",
        "2026-10-25T02:00:00+02:00",
        "2026-10-25T02:00:00+01:00",
        "2026-10-25T03:00:00+01:00",
    ]


def test_clock_change_of_half_an_hour() -> None:
    hour_labels = labels(period("2026-04-05", "2026-04-05", "Australia/Lord_Howe"), "hour")
    assert hour_labels[1:4] == [
        "2026-04-05T01:00:00+11:00",
        "2026-04-05T01:30:00+10:30",
        "2026-04-05T02:00:00+10:30",
    ]


def test_hours_of_a_zone_with_a_quarter_hour_offset() -> None:
    steps = period("2026-01-01", "2026-01-01", "Asia/Kathmandu").steps("hour")
    assert label(steps[0], "hour") == "2026-01-01T00:00:00+05:45"
    assert steps[0] == datetime(2025, 12, 31, 18, 15, tzinfo=UTC)
    assert len(steps) == 24


@pytest.mark.parametrize("zone", ["Pacific/Apia", "Pacific/Fakaofo"])
def test_day_that_the_zone_skipped_is_no_step(zone: str) -> None:
    days = labels(period("2011-12-29", "2012-01-01", zone), "day")
    assert days == ["2011-12-29", "2011-12-31", "2012-01-01"]


@pytest.mark.parametrize(
    ("zone", "day", "begins"),
    [
        # The clock jumps from 24:00 to 1:00.
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00+00:00"),
        # The clock shows 0:30 twice.
        ("America/Havana", "2025-11-02", "2025-11-02T04:00:00+00:00"),
        # The zone skipped the day before.
        ("Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00+00:00"),
        ("Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00+00:00"),
    ],
)
def test_start_of_a_day(zone: str, day: str, begins: str) -> None:
    assert midnight(date.fromisoformat(day), ZoneInfo(zone)).isoformat() == begins


def test_days_of_utc_need_no_edges() -> None:
    requested = period("2026-01-01", "2026-01-03")
    assert requested.whole_days == requested.touched_days == (date(2026, 1, 1), date(2026, 1, 3))
    assert requested.edges == []


def test_edges_of_a_range_in_another_zone() -> None:
    requested = period("2026-01-01", "2026-01-03", "Asia/Kathmandu")
    assert requested.touched_days == (date(2025, 12, 31), date(2026, 1, 3))
    assert requested.whole_days == (date(2026, 1, 1), date(2026, 1, 2))
    assert requested.edges == [
        (datetime(2025, 12, 31, 18, 15, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)),
        (datetime(2026, 1, 3, tzinfo=UTC), datetime(2026, 1, 3, 18, 15, tzinfo=UTC)),
    ]


def test_short_day_inside_a_utc_day() -> None:
    requested = period("2026-03-29", "2026-03-29", "Europe/London")
    assert requested.edges == [(datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 3, 29, 23, tzinfo=UTC))]
    assert requested.whole_days == (date(2026, 3, 29), date(2026, 3, 28))


@given(
    st.sampled_from(sorted(available_timezones())),
    st.one_of(st.dates(date(1970, 1, 1), date(2040, 1, 1)), st.sampled_from([FIRST_DAY, LAST_DAY])),
    st.integers(0, 40),
)
@example("Pacific/Kanton", date(1994, 12, 31), 1)
def test_whole_days_and_edges_are_the_range_and_steps_fill_it(zone: str, first: date, more: int) -> None:
    more = min(more, (LAST_DAY - first).days)
    requested = Period(first, first + timedelta(days=more), ZoneInfo(zone))
    since, until = requested.span
    pieces = list(requested.edges)
    begin, end = requested.whole_days
    if begin <= end:
        pieces.append((midnight(begin, UTC), midnight(end, UTC) + timedelta(days=1)))
    pieces.sort()
    covered = sum((end - begin for begin, end in pieces), timedelta())
    assert covered == until - since
    assert all(before[1] <= after[0] for before, after in pairwise(pieces))
    if pieces:
        assert (pieces[0][0], pieces[-1][1]) == (since, until)
    for interval in ("hour", "day", "month"):
        steps = [step.astimezone(UTC) for step in requested.steps(interval)]
        assert steps == sorted(steps)
        assert not steps or steps[0] == since
        assert not steps or steps[-1] <= until
        assert len(set(labels(requested, interval))) == len(steps)
