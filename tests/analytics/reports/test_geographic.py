from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from testing.analytics.facts import Fact, record
from tests.analytics.reading import report

DAY = {"startDate": "2026-03-01", "endDate": "2026-03-01"}


def test_link_without_clicks(api: APIClient, link: str) -> None:
    assert report(api, link, "/geographic") == {"countries": [], "regions": [], "cities": []}


@pytest.mark.parametrize("query", [{}, DAY, {**DAY, "timezone": "Asia/Kathmandu"}])
def test_full_report(api: APIClient, link: str, query: dict[str, str]) -> None:
    facts = [
        Fact("2026-03-01T10:00Z", "DE", "Frankfurt am Main", count=2, region="Hesse"),
        Fact("2026-03-01T10:00Z", "US", "Frankfurt am Main"),
        Fact("2026-03-01T10:00Z", "DE", "unknown", region="Brandenburg"),
        Fact("2026-03-01T10:00Z", "unknown", "unknown"),
        Fact("2026-03-01T10:00Z", "AX", "Mariehamn"),
    ]
    record(link, facts, closed="2026-02-28")
    assert report(api, link, "/geographic", **query) == {
        "countries": [
            {"code": "DE", "name": "Germany", "clicks": 3, "percentage": 50.0},
            {"code": "AX", "name": "Åland Islands", "clicks": 1, "percentage": 16.7},
            {"code": "US", "name": "United States", "clicks": 1, "percentage": 16.7},
            {"code": "unknown", "name": "Unknown", "clicks": 1, "percentage": 16.6},
        ],
        "regions": [
            {"name": "Hesse", "country": "DE", "clicks": 2},
            {"name": "unknown", "country": "AX", "clicks": 1},
            {"name": "Brandenburg", "country": "DE", "clicks": 1},
            {"name": "unknown", "country": "US", "clicks": 1},
            {"name": "unknown", "country": "unknown", "clicks": 1},
        ],
        "cities": [
            {"name": "Frankfurt am Main", "country": "DE", "clicks": 2},
            {"name": "Mariehamn", "country": "AX", "clicks": 1},
            {"name": "unknown", "country": "DE", "clicks": 1},
            {"name": "Frankfurt am Main", "country": "US", "clicks": 1},
            {"name": "unknown", "country": "unknown", "clicks": 1},
        ],
    }


@pytest.mark.parametrize("query", [{}, DAY, {**DAY, "timezone": "Asia/Kathmandu"}])
def test_a_city_may_be_in_an_unknown_country(api: APIClient, link: str, query: dict[str, str]) -> None:
    facts = [
        Fact("2026-03-01T10:00Z", "unknown", "Atlantis"),
        Fact("2026-03-01T10:00Z", "unknown", "unknown", count=2),
    ]
    record(link, facts)
    assert report(api, link, "/geographic", **query) == {
        "countries": [{"code": "unknown", "name": "Unknown", "clicks": 3, "percentage": 100.0}],
        "regions": [{"name": "unknown", "country": "unknown", "clicks": 3}],
        "cities": [
            {"name": "unknown", "country": "unknown", "clicks": 2},
            {"name": "Atlantis", "country": "unknown", "clicks": 1},
        ],
    }


def test_limit_applies_to_all_lists(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-03-01T10:00Z", f"A{letter}", "x") for letter in "ABCDEFG"])
    data = report(api, link, "/geographic", limit=2)
    assert [(item["code"], item["percentage"]) for item in data["countries"]] == [("AA", 14.3), ("AB", 14.3)]
    assert [item["country"] for item in data["regions"]] == ["AA", "AB"]
    assert [item["country"] for item in data["cities"]] == ["AA", "AB"]


def test_default_limit_is_a_thousand_cities(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-03-01T10:00Z", city=f"City {n:04}") for n in range(1_001)])
    data = report(api, link, "/geographic")
    assert data["countries"] == [{"code": "DE", "name": "Germany", "clicks": 1_001, "percentage": 100.0}]
    assert (len(data["cities"]), data["cities"][-1]["name"]) == (1_000, "City 0999")


def test_attribution_is_in_the_response(api: APIClient, link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = {"text": "IP Geolocation by DB-IP", "url": "https://db-ip.com"}
    monkeypatch.setattr("analytics.visitors.geo.attribution", lambda: source)
    assert report(api, link, "/geographic") == {
        "countries": [],
        "regions": [],
        "cities": [],
        "attribution": source,
    }
    assert "attribution" not in report(api, link)
    assert "attribution" not in report(api, link, "/devices")


@pytest.mark.parametrize("items", [1, 3])
@pytest.mark.parametrize("query", [{}, DAY, {**DAY, "timezone": "Asia/Kathmandu"}])
def test_query_count_is_constant(
    api: APIClient, link: str, django_assert_num_queries: Any, query: dict[str, str], items: int
) -> None:
    record(link, [Fact("2026-03-01T12:00Z", city=f"c{n}") for n in range(items)])
    # The credential, the link, the report; for the whole lifetime also the last closed day.
    with django_assert_num_queries(3 if query else 4):
        assert len(report(api, link, "/geographic", **query)["cities"]) == items
