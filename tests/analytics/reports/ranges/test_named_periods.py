"""Reports of periods that end now: `period` instead of dates."""

from __future__ import annotations

import time_machine
from rest_framework.test import APIClient

from testing.analytics.facts import Fact, record
from testing.refusals import broken_rules
from tests.analytics.reading import report
from tests.analytics.reports.ranges.ranges import dated

DAYS = [
    "2025-03-31T12:00Z",
    "2025-04-01T12:00Z",
    "2025-12-31T12:00Z",
    "2026-01-01T12:00Z",
    "2026-02-28T12:00Z",
    "2026-03-01T12:00Z",
    "2026-03-13T12:00Z",
    "2026-03-14T23:29Z",
    "2026-03-15T22:59Z",
    "2026-03-15T23:31Z",
]
# Each period with its steps, the first of them, and its clicks.
PERIODS = {
    "today": (1, "2026-03-15", 2),
    "7d": (7, "2026-03-09", 4),
    "30d": (30, "2026-02-14", 6),
    "90d": (90, "2025-12-16", 8),
    "12mo": (349, "2025-04-01", 9),
    "mtd": (15, "2026-03-01", 5),
    "ytd": (74, "2026-01-01", 7),
    "all": (350, "2025-03-31", 10),
    "24h": (24, "2026-03-15T00:00:00Z", 2),
}


@time_machine.travel("2026-03-15T23:45Z")
def test_each_period_has_its_days(api: APIClient, link: str) -> None:
    record(link, [Fact(time) for time in DAYS])
    for period, (steps, first, clicks) in PERIODS.items():
        by_date = dated(api, link, period=period)
        assert (len(by_date), next(iter(by_date)), sum(by_date.values())) == (steps, first, clicks), period
        # The values have the same clicks as the totals.
        for part, key in (("/devices", "devices"), ("/geographic", "countries")):
            assert [row["clicks"] for row in report(api, link, part, period=period)[key]] == [clicks], period
        assert len(report(api, link, "/clicks", period=period)["clicks"]) == clicks
    # The day has begun in Berlin.
    assert len(dated(api, link, period="mtd", timezone="Europe/Berlin")) == 16


@time_machine.travel("2026-03-15T23:45Z")
def test_the_last_24_hours_start_with_an_hour_of_the_zone(api: APIClient, link: str) -> None:
    record(link, [Fact(time) for time in DAYS])
    # 05:30 in Kathmandu: the hour has begun at 05:00, which is 23:15 in UTC.
    by_hour = dated(api, link, period="24h", timezone="Asia/Kathmandu")
    assert {hour: clicks for hour, clicks in by_hour.items() if clicks} == {
        "2026-03-16T04:00:00+05:45": 1,
        "2026-03-16T05:00:00+05:45": 1,
    }
    assert (len(by_hour), next(iter(by_hour))) == (24, "2026-03-15T06:00:00+05:45")
    assert dated(api, link, period="24h", interval="day") == {"2026-03-15": 2}
    assert dated(api, link, period="24h", interval="day", timezone="Europe/Berlin") == {
        "2026-03-15": 1,
        "2026-03-16": 1,
    }


def test_a_period_excludes_dates(api: APIClient, link: str) -> None:
    for part in ("", "/devices", "/geographic", "/clicks"):
        path = f"/api/analytics/{link}{part}"
        for query in ({"startDate": "2026-03-01"}, {"endDate": "2026-03-01"}):
            assert broken_rules(api.get(path, {"period": "7d", **query})) == [("period", "conflict")]
        assert broken_rules(api.get(path, {"period": "8d"})) == [("period", "invalid_choice")]
    domain = api.post("/api/domains", {"domain": "links.example"}).json()["data"]["domain"]["_id"]
    refused = api.get(f"/api/domains/{domain}/analytics", {"period": "7d"})
    assert broken_rules(refused) == [("period", "unknown_field")]
