"""The clicks within a requested range, time zone and interval."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from rest_framework.test import APIClient

from testing.analytics.facts import Fact, record
from testing.refusals import broken_rules
from tests.analytics.reading import report
from tests.analytics.reports.ranges.ranges import dated


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-03-02", "2026-03-03"),
        ("2026-03-02T23:59:59Z", "2026-03-03T00:00:00Z"),
        ("2026-03-02t10:00:00z", "2026-03-03 10:00"),
        ("2026-03-02T10:00", "2026-03-03T10:00:00.123456789"),
        ("2026-03-01T23:00:00-05:00", "2026-03-04T00:30:00+01:00"),
        ("2026-03-02T10:00:00,5Z", "2026-03-03T10:00:00+0000"),
    ],
)
def test_date_time_means_its_day(api: APIClient, link: str, start: str, end: str) -> None:
    times = [
        "2026-03-01T23:59:59.999999Z",
        "2026-03-02T00:00Z",
        "2026-03-03T23:59:59.999999Z",
        "2026-03-04T00:00Z",
    ]
    record(link, [Fact(time, country=f"A{letter}") for time, letter in zip(times, "ABCD", strict=True)])
    query = {"startDate": start, "endDate": end}
    assert dated(api, link, **query) == {"2026-03-02": 1, "2026-03-03": 1}
    countries = report(api, link, "/geographic", **query)["countries"]
    assert [item["code"] for item in countries] == ["AB", "AC"]
    log = report(api, link, "/clicks", **query)["clicks"]
    assert [item["country"] for item in log] == ["AC", "AB"]


def test_date_time_means_its_day_in_the_zone(api: APIClient, link: str) -> None:
    moment = "2026-03-01T23:30:00Z"
    query = {"startDate": moment, "endDate": moment, "timezone": "Europe/Berlin"}
    assert dated(api, link, **query) == {"2026-03-02": 0}
    assert dated(api, link, **{**query, "timezone": "America/New_York"}) == {"2026-03-01": 0}


@time_machine.travel("2026-03-05T12:00Z")
def test_a_range_without_an_end_ends_today(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-03-01T10:00Z"), Fact("2026-03-03T10:00Z")])
    assert dated(api, link, startDate="2026-03-03") == {"2026-03-03": 1, "2026-03-04": 0, "2026-03-05": 0}
    assert dated(api, link, startDate="2026-03-07") == {"2026-03-07": 0}
    tokyo = dated(api, link, startDate="2026-03-05T12:00Z", timezone="Pacific/Kiritimati")
    assert tokyo == {"2026-03-06": 0}


def test_a_range_without_a_start_begins_with_the_link(api: APIClient, link: str) -> None:
    born = datetime.now(UTC).date()
    days = [(born + timedelta(days=number)).isoformat() for number in range(3)]
    record(link, [Fact(f"{day}T10:00Z") for day in days])
    assert dated(api, link, endDate=days[1]) == {days[0]: 1, days[1]: 1}
    assert dated(api, link, endDate="2020-02-29") == {"2020-02-29": 0}


@time_machine.travel("2026-03-02T03:00Z")
def test_default_range_is_from_the_first_click_to_today(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-02-27T22:00Z"), Fact("2026-03-01T10:00Z")])
    assert dated(api, link) == {
        "2026-02-27": 1, "2026-02-28": 0, "2026-03-01": 1, "2026-03-02": 0,
    }  # fmt: skip
    assert dated(api, link, timezone="Asia/Tokyo") == {
        "2026-02-28": 1, "2026-03-01": 1, "2026-03-02": 0,
    }  # fmt: skip
    assert dated(api, link, timezone="America/New_York") == {
        "2026-02-27": 1, "2026-02-28": 0, "2026-03-01": 1,
    }  # fmt: skip
    assert dated(api, link, interval="month") == {"2026-02": 1, "2026-03": 1}


@time_machine.travel("2026-03-02T23:59:59Z")
def test_click_dated_tomorrow_by_clock_skew_counts(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-03-02T10:00Z"), Fact("2026-03-03T00:00:01Z")])
    assert dated(api, link) == {"2026-03-02": 1, "2026-03-03": 1}
    assert dated(api, link, timezone="Asia/Kathmandu") == {"2026-03-02": 1, "2026-03-03": 1}


@time_machine.travel("2026-03-02T12:00Z")
def test_default_range_covers_a_long_lifetime(api: APIClient, link: str) -> None:
    record(link, [Fact("2010-01-01T10:00Z"), Fact("2026-03-01T10:00Z")])
    assert len(dated(api, link)) == 5_905
    assert len(dated(api, link, timezone="Europe/Berlin", interval="month")) == 195


@pytest.mark.parametrize("part", ["", "/devices", "/geographic"])
def test_the_longest_range(api: APIClient, link: str, part: str) -> None:
    path = f"/api/analytics/{link}{part}"
    assert api.get(path, {"startDate": "2016-01-01", "endDate": "2026-02-16"}).status_code == 200
    for query, field in [
        ({"startDate": "2016-01-01", "endDate": "2026-02-17"}, "startDate"),
        ({"startDate": "1970-01-01"}, "startDate"),
        ({"endDate": "9999-12-30"}, "endDate"),
    ]:
        assert broken_rules(api.get(path, query)) == [(field, "range")]


def test_the_longest_range_by_hour(api: APIClient, link: str) -> None:
    query = {"interval": "hour", "startDate": "2026-03-01"}
    assert len(dated(api, link, **query, endDate="2026-03-31")) == 744
    response = api.get(f"/api/analytics/{link}", {**query, "endDate": "2026-04-01"})
    assert broken_rules(response) == [("interval", "range")]


@time_machine.travel("2026-03-08T12:00Z")
def test_default_range_by_hour_is_seven_days(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-03-01T23:59Z", "FR"), Fact("2026-03-02T00:00Z")])
    hours = dated(api, link, interval="hour")
    assert (len(hours), next(iter(hours.items()))) == (168, ("2026-03-02T00:00:00Z", 1))
    assert report(api, link, interval="hour")["topCountries"] == [{"country": "DE", "clicks": 1}]
    assert len(dated(api, link, interval="hour", endDate="2026-03-05")) == 168
