"""The clicks within a requested range, time zone and interval."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from rest_framework.test import APIClient

from analytics.models import Kind
from testing.analytics.facts import Fact, record
from testing.refusals import broken_rules
from tests.analytics.reading import report

PARTS = ["", "/devices", "/geographic", "/clicks"]


def dated(api: APIClient, link: str, **query: object) -> dict[str, int]:
    """The clicks by date; checks that the sums of clicks and of unique clicks equal the totals."""
    data = report(api, link, **query)
    clicks_by_date = {item["date"]: item["clicks"] for item in data["clicksByDate"]}
    assert len(clicks_by_date) == len(data["clicksByDate"])
    assert sum(clicks_by_date.values()) == data["totalClicks"] >= data["uniqueClicks"]
    assert sum(item["uniqueClicks"] for item in data["clicksByDate"]) == data["uniqueClicks"]
    assert all(item["uniqueClicks"] <= item["clicks"] for item in data["clicksByDate"])
    return clicks_by_date


# Whole days, including both bounds


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


# Other zones


QUARTERS = [
    Fact("2026-03-28T18:14:59Z", "AA"),
    Fact("2026-03-28T18:15Z", "BB"),
    Fact("2026-03-28T23:59Z", "CC"),
    Fact("2026-03-29T10:00Z", "DD"),
    Fact("2026-03-29T18:14Z", "EE"),
    Fact("2026-03-29T18:15Z", "FF"),
]


def test_day_of_a_zone_with_a_quarter_hour_offset(api: APIClient, link: str) -> None:
    record(link, QUARTERS)
    query = {"startDate": "2026-03-29", "endDate": "2026-03-29", "timezone": "Asia/Kathmandu"}
    data = report(api, link, **query)
    assert data["clicksByDate"] == [{"date": "2026-03-29", "clicks": 4, "uniqueClicks": 1}]
    assert [item["country"] for item in data["topCountries"]] == ["BB", "CC", "DD", "EE"]
    log = report(api, link, "/clicks", **query)["clicks"]
    assert [item["country"] for item in log] == ["EE", "DD", "CC", "BB"]


def test_hours_of_a_zone_with_a_quarter_hour_offset(api: APIClient, link: str) -> None:
    record(link, QUARTERS)
    query = {"startDate": "2026-03-29", "endDate": "2026-03-29", "timezone": "Asia/Kathmandu"}
    hours = dated(api, link, interval="hour", **query)
    assert len(hours) == 24
    assert {hour: clicks for hour, clicks in hours.items() if clicks} == {
        "2026-03-29T00:00:00+05:45": 1,
        "2026-03-29T05:00:00+05:45": 1,
        "2026-03-29T15:00:00+05:45": 1,
        "2026-03-29T23:00:00+05:45": 1,
    }


@pytest.mark.parametrize(
    ("day", "hours", "clicked"),
    [
        (
            "2026-03-29",
            23,
            {
                "2026-03-29T00:00:00+01:00": 1,
                "2026-03-29T01:00:00+01:00": 1,
                "2026-03-29T03:00:00+02:00": 1,
                "2026-03-29T23:00:00+02:00": 1,
            },
        ),
        (
            "2026-10-25",
            25,
            {
                "2026-10-25T00:00:00+02:00": 1,
                "2026-10-25T02:00:00+02:00": 1,
                "2026-10-25T02:00:00+01:00": 1,
                "2026-10-25T23:00:00+01:00": 1,
            },
        ),
    ],
)
def test_days_with_a_clock_change(
    api: APIClient, link: str, day: str, hours: int, clicked: dict[str, int]
) -> None:
    outside = [
        "2026-03-28T22:59:59Z", "2026-03-29T22:00Z", "2026-10-24T21:59:59Z", "2026-10-25T23:00Z",
    ]  # fmt: skip
    record(link, [Fact(time) for time in [*clicked, *outside]])
    query = {"startDate": day, "endDate": day, "timezone": "Europe/Berlin"}
    clicks_by_date = dated(api, link, interval="hour", **query)
    assert len(clicks_by_date) == hours
    assert {hour: clicks for hour, clicks in clicks_by_date.items() if clicks} == clicked
    assert dated(api, link, **query) == {day: 4}


def test_hours_of_utc(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-03-01T00:00Z"), Fact("2026-03-01T23:59Z"), Fact("2026-03-02T00:00Z")])
    hours = dated(api, link, interval="hour", startDate="2026-03-01", endDate="2026-03-01")
    assert len(hours) == 24
    assert (hours["2026-03-01T00:00:00Z"], hours["2026-03-01T23:00:00Z"]) == (1, 1)


def test_months(api: APIClient, link: str) -> None:
    record(link, [Fact("2025-12-31T23:30Z"), Fact("2026-01-01T00:00Z"), Fact("2026-03-31T22:30Z")])
    query = {"startDate": "2025-12-31", "endDate": "2026-03-31", "interval": "month"}
    assert dated(api, link, **query) == {"2025-12": 1, "2026-01": 1, "2026-02": 0, "2026-03": 1}
    assert dated(api, link, **query, timezone="Europe/Berlin") == {
        "2025-12": 0, "2026-01": 2, "2026-02": 0, "2026-03": 0,
    }  # fmt: skip


@pytest.mark.parametrize(("seed", "life"), [(0, 5), (1, 5), (2, 40), (3, 40)])
@pytest.mark.parametrize(
    "zone", ["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia"]
)
def test_any_range_agrees_with_the_raw_clicks(
    api: APIClient, link: str, zone: str, seed: int, life: int
) -> None:
    """Most of a life of 40 days is read from the lifetime counts, of which some days are closed."""
    chance = random.Random(seed)
    facts = []
    for _ in range(150):
        time = datetime(2026, 3, 27, tzinfo=UTC) + timedelta(seconds=chance.randrange(life * 86_400))
        facts.append(
            Fact(
                time.isoformat(),
                chance.choice(["DE", "FR", "unknown"]),
                chance.choice(["Berlin", "unknown"]),
                chance.choice(["desktop", "mobile"]),
                chance.choice(["Firefox", "Chrome", "unknown"]),
                referrer=chance.choice(["", "https://a.example/x", "https://www.b.example/"]),
                visitor=chance.choice("abc"),
            )
        )
    days = {
        fact: datetime.fromisoformat(fact.time).astimezone(ZoneInfo(zone)).date().isoformat()
        for fact in facts
    }
    used = sorted(set(days.values()))
    record(link, facts, closed=chance.choice(used))
    start, end = sorted(chance.choices(used, k=2)) if life < 40 else (used[2], used[-4])
    within = [fact for fact in facts if start <= days[fact] <= end]
    query: dict[str, Any] = {"startDate": start, "endDate": end, "timezone": zone}
    counted = dated(api, link, **query)
    assert {day: clicks for day, clicks in counted.items() if clicks} == Counter(
        days[fact] for fact in within
    )
    places, agents = report(api, link, "/geographic", **query), report(api, link, "/devices", **query)
    assert {item["code"]: item["clicks"] for item in places["countries"]} == Counter(
        fact.country for fact in within
    )
    assert {(item["country"], item["name"]): item["clicks"] for item in places["cities"]} == Counter(
        (fact.country, fact.city) for fact in within
    )
    assert {item["name"]: item["clicks"] for item in agents["browsers"]} == Counter(
        fact.browser for fact in within
    )
    referrers = {item["referrer"]: item["clicks"] for item in report(api, link, **query)["topReferrers"]}
    hosts = {"": "direct", "https://a.example/x": "a.example", "https://www.b.example/": "b.example"}
    assert referrers == Counter(hosts[fact.referrer] for fact in within)
    assert len(report(api, link, "/clicks", limit=100, **query)["clicks"]) == min(len(within), 100)


def test_expired_clicks_at_range_edges_are_unknown(api: APIClient, link: str) -> None:
    record(link, [Fact(f"2026-03-0{day}T{hour}:00Z") for day in (1, 2, 3) for hour in (10, 23)], raw=False)
    query = {"startDate": "2026-03-02", "endDate": "2026-03-03", "timezone": "Europe/Berlin"}
    data = report(api, link, **query)
    # From March 1 at 23:00 to March 3 at 23:00, which contains all of March 2.
    assert dated(api, link, **query) == {"2026-03-02": 2, "2026-03-03": 2}
    assert data["topCountries"] == [{"country": "DE", "clicks": 2}, {"country": "unknown", "clicks": 2}]
    assert data["topReferrers"] == [{"referrer": "direct", "clicks": 2}, {"referrer": "unknown", "clicks": 2}]
    places = report(api, link, "/geographic", **query)
    assert places["cities"] == [
        {"name": "Berlin", "country": "DE", "clicks": 2},
        {"name": "unknown", "country": "unknown", "clicks": 2},
    ]


def test_uncounted_requests_cover_all_overlapping_utc_days(api: APIClient, link: str) -> None:
    times = ["2026-03-01T00:00Z", "2026-03-02T12:00Z", "2026-03-03T23:59Z", "2026-03-04T00:00Z"]
    record(link, [Fact(time, kind=Kind.HEAD) for time in times])
    query = {"startDate": "2026-03-02", "endDate": "2026-03-03", "timezone": "Europe/Berlin"}
    assert report(api, link, **query)["notCounted"]["head"] == 3


# Refused queries


NO_DATES = [
    *("", " ", "today", "2026", "2026-02", "2026-02-30", "2026-13-01", "20260301", "2026-W10-1"),
    *("01.03.2026", "1772323200", "-2026-03-01", "+02026-03-01", "2026-03-01T", "2026-03-01T24:00"),
    *("2026-03-01T10", "2026-03-01T10:00 02:00", "2026-03-01T10:00+25:00", "2026-03-01T10:00 Europe/Berlin"),
    *("\uff12026-03-01", "2026-03-01\x00", "2026-03-01\n", "2026-03-01,2026-03-02", "10000-01-01", "null"),
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("field", ["startDate", "endDate"])
def test_invalid_dates_are_refused(api: APIClient, link: str, part: str, field: str) -> None:
    for date in NO_DATES:
        response = api.get(f"/api/analytics/{link}{part}", {field: date})
        assert [name for name, _ in broken_rules(response)] == [field], date


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize(
    "date", ["0001-01-01", "0001-01-01T00:00:00Z", "1969-12-31", "1969-12-31T00:00Z", "9999-12-31T23:59:59Z"]
)
def test_dates_out_of_range_are_refused(api: APIClient, link: str, part: str, zone: str, date: str) -> None:
    query = {"startDate": date, "endDate": date, "timezone": zone}
    rules = [("startDate", "out_of_range"), ("endDate", "out_of_range")]
    assert broken_rules(api.get(f"/api/analytics/{link}{part}", query)) == rules


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "zone", ["UTC", "Asia/Tokyo", "America/New_York", "Pacific/Kiritimati", "Etc/GMT+12"]
)
@pytest.mark.parametrize("date", ["1970-01-01", "9999-12-30"])
def test_first_and_last_supported_day(api: APIClient, link: str, part: str, zone: str, date: str) -> None:
    for interval in ({"interval": name} for name in ("hour", "day", "month")) if part == "" else ({},):
        report(api, link, part, startDate=date, endDate=date, timezone=zone, **interval)


@pytest.mark.parametrize("part", PARTS)
def test_end_before_start_is_refused(api: APIClient, link: str, part: str) -> None:
    path = f"/api/analytics/{link}{part}"
    query = {"startDate": "2026-03-02", "endDate": "2026-03-01"}
    assert broken_rules(api.get(path, query)) == [("endDate", "range")]
    # The same day in New York.
    query = {"startDate": "2026-03-02T04:00Z", "endDate": "2026-03-01T12:00Z"}
    assert broken_rules(api.get(path, query)) == [("endDate", "range")]
    assert api.get(path, {**query, "timezone": "America/New_York"}).status_code == 200


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


NO_ZONES = [
    *(
        "",
        "utc",
        "Berlin",
        "Europe/Nowhere",
        "europe/berlin",
        "Europe",
        "+01:00",
        "CEST",
        "localtime",
        "Factory",
    ),
    *("/etc/passwd", "../../../../etc/passwd", "/usr/share/zoneinfo/UTC", "Europe/../UTC", "posix/UTC"),
    *("right/UTC", "posixrules", "UTC\x00", "UTC\n", "UTC ", "A" * 5000, "zone.tab", "tzdata.zi"),
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_invalid_zones_are_refused(api: APIClient, link: str, part: str) -> None:
    for zone in NO_ZONES:
        response = api.get(f"/api/analytics/{link}{part}", {"timezone": zone})
        assert [field for field, _ in broken_rules(response)] == ["timezone"], zone


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC", "GMT", "EST5EDT", "America/Argentina/Buenos_Aires"])
def test_valid_zones_are_accepted(api: APIClient, link: str, zone: str) -> None:
    query = {"startDate": "2026-03-01", "endDate": "2026-03-01", "timezone": zone}
    assert dated(api, link, **query) == {"2026-03-01": 0}
