"""Dates and zones that reports refuse."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from testing.cases import for_each
from testing.refusals import broken_rules
from tests.analytics.reading import report
from tests.analytics.reports.ranges.ranges import dated

PARTS = ["", "/devices", "/geographic", "/clicks"]
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


@for_each("part", PARTS)
@for_each("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
@for_each(
    "date", ["0001-01-01", "0001-01-01T00:00:00Z", "1969-12-31", "1969-12-31T00:00Z", "9999-12-31T23:59:59Z"]
)
def test_dates_out_of_range_are_refused(api: APIClient, link: str, part: str, zone: str, date: str) -> None:
    query = {"startDate": date, "endDate": date, "timezone": zone}
    rules = [("startDate", "out_of_range"), ("endDate", "out_of_range")]
    assert broken_rules(api.get(f"/api/analytics/{link}{part}", query)) == rules


@for_each("part", PARTS)
@for_each("zone", ["UTC", "Asia/Tokyo", "America/New_York", "Pacific/Kiritimati", "Etc/GMT+12"])
@for_each("date", ["1970-01-01", "9999-12-30"])
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
