from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from analytics.models import Kind
from testing.analytics.facts import Fact, record
from testing.cases import for_each
from testing.refusals import broken_rules
from tests.analytics.reading import report

DAY = {"startDate": "2026-03-01", "endDate": "2026-03-01"}


def test_link_without_clicks(api: APIClient, link: str) -> None:
    assert report(api, link, "/devices") == {"devices": [], "browsers": [], "operatingSystems": []}
    assert report(api, link, "/devices", **DAY) == {"devices": [], "browsers": [], "operatingSystems": []}


@pytest.mark.parametrize("query", [{}, DAY])
def test_full_report(api: APIClient, link: str, query: dict[str, str]) -> None:
    facts = [
        Fact("2026-03-01T10:00Z", device="desktop", browser="Firefox", operating_system="Linux"),
        Fact("2026-03-01T11:00Z", device="mobile", browser="Firefox", operating_system="Android"),
        Fact("2026-03-01T12:00Z", device="tablet", browser="unknown", operating_system="unknown"),
        Fact(
            "2026-03-01T12:00Z", device="mobile", browser="unknown", operating_system="x", kind=Kind.CRAWLER
        ),
    ]
    record(link, facts)
    assert report(api, link, "/devices", **query) == {
        "devices": [
            {"type": "desktop", "clicks": 1, "percentage": 33.4},
            {"type": "mobile", "clicks": 1, "percentage": 33.3},
            {"type": "tablet", "clicks": 1, "percentage": 33.3},
        ],
        "browsers": [
            {"name": "Firefox", "clicks": 2, "percentage": 66.7},
            {"name": "unknown", "clicks": 1, "percentage": 33.3},
        ],
        "operatingSystems": [
            {"name": "Android", "clicks": 1, "percentage": 33.4},
            {"name": "Linux", "clicks": 1, "percentage": 33.3},
            {"name": "unknown", "clicks": 1, "percentage": 33.3},
        ],
    }


@pytest.mark.parametrize("query", [{}, DAY, {**DAY, "timezone": "Asia/Kathmandu"}])
def test_browsers_may_have_any_name(api: APIClient, link: str, query: dict[str, str]) -> None:
    names = ["", " ", "Linux", "a  b", "ä\\tö"]
    record(link, [Fact("2026-03-01T10:00Z", browser=name) for name in names])
    data = report(api, link, "/devices", **query)
    assert [item["name"] for item in data["browsers"]] == names
    assert data["devices"] == [{"type": "desktop", "clicks": 5, "percentage": 100.0}]
    assert data["operatingSystems"] == [{"name": "Linux", "clicks": 5, "percentage": 100.0}]


def test_only_requested_days_are_counted(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-03-01T10:00Z"), Fact("2026-03-02T10:00Z", device="mobile")])
    assert report(api, link, "/devices", **DAY)["devices"] == [
        {"type": "desktop", "clicks": 1, "percentage": 100.0}
    ]


def test_percentages_of_hundreds_of_browsers_add_up(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-03-01T10:00Z", browser=f"Browser {n:03}", count=n % 7 + 1) for n in range(300)])
    browsers = report(api, link, "/devices")["browsers"]
    assert len(browsers) == 300
    assert sum(round(item["percentage"] * 10) for item in browsers) == 1000
    assert [item["clicks"] for item in browsers] == sorted(
        (item["clicks"] for item in browsers), reverse=True
    )


def test_limit_does_not_change_percentages(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-03-01T10:00Z", browser=name) for name in "abc"])
    assert report(api, link, "/devices", limit=2)["browsers"] == [
        {"name": "a", "clicks": 1, "percentage": 33.4},
        {"name": "b", "clicks": 1, "percentage": 33.3},
    ]


@for_each("part", ["/devices", "/geographic"])
@for_each(("limit", "code"), [("0", "min_value"), ("1001", "max_value"), ("x", "invalid"), ("", "invalid")])
def test_limits(api: APIClient, link: str, part: str, limit: str, code: str) -> None:
    assert broken_rules(api.get(f"/api/analytics/{link}{part}", {"limit": limit})) == [("limit", code)]
    for good in ("1", "1000"):
        report(api, link, part, limit=good)


@pytest.mark.parametrize("items", [1, 3])
@pytest.mark.parametrize("query", [{}, DAY, {**DAY, "timezone": "Asia/Kathmandu"}])
def test_query_count_is_constant(
    api: APIClient, link: str, django_assert_num_queries: Any, query: dict[str, str], items: int
) -> None:
    record(link, [Fact("2026-03-01T12:00Z", browser=f"b{n}") for n in range(items)])
    # The credential, the link, the report; for the whole lifetime also the last closed day.
    with django_assert_num_queries(3 if query else 4):
        assert len(report(api, link, "/devices", **query)["browsers"]) == items
