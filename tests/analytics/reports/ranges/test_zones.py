"""Reports in other time zones."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from rest_framework.test import APIClient

from analytics.models import Kind
from testing.analytics.facts import Fact, record
from tests.analytics.reading import report
from tests.analytics.reports.ranges.ranges import dated

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
