"""Limits, intervals and invalid parameters of the overview."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from analytics.models import Kind
from testing.analytics.facts import Fact, record
from testing.refusals import broken_rules
from tests.analytics.reading import report


def test_default_limit_is_ten_values(api: APIClient, link: str) -> None:
    facts = [
        Fact(
            "2026-03-01T10:00Z",
            country=f"{letter}{letter}",
            referrer=f"https://{letter.lower()}.example/",
            count=n,
        )
        for n, letter in enumerate("ABCDEFGHIJKL", start=1)
    ]
    record(
        link,
        [*facts, Fact("2026-03-01T10:00Z", kind=Kind.HEAD), Fact("2026-03-01T10:00Z", kind=Kind.CRAWLER)],
    )
    for dates in ({}, {"startDate": "2026-03-01", "endDate": "2026-03-02"}):
        data = report(api, link, **dates)
        assert [item["country"] for item in data["topCountries"]] == [2 * letter for letter in "LKJIHGFEDC"]
        assert [item["clicks"] for item in data["topReferrers"]] == [*range(12, 2, -1)]
        assert report(api, link, limit=100, **dates)["topCountries"][-1] == {"country": "AA", "clicks": 1}
        least = report(api, link, limit=1, **dates)
        assert least["topReferrers"] == [{"referrer": "l.example", "clicks": 12}]
        assert least["notCounted"] == {"crawler": 1, "prefetch": 0, "head": 1, "ignored": 0}
        assert (least["totalClicks"], data["totalClicks"]) == (78, 78)


def test_ties_are_ordered_by_code_point(api: APIClient, link: str) -> None:
    hosts = ["b.example", "a.example", "ä.example", "a-b.example", "z.example"]
    record(link, [Fact("2026-03-01T10:00Z", referrer=f"https://{host}/") for host in hosts])
    referrers = [item["referrer"] for item in report(api, link)["topReferrers"]]
    assert referrers == ["a-b.example", "a.example", "b.example", "z.example", "ä.example"]


@pytest.mark.parametrize(
    ("limit", "rules"),
    [
        ("0", [("limit", "min_value")]),
        ("101", [("limit", "max_value")]),
        ("-1", [("limit", "invalid")]),
        ("ten", [("limit", "invalid")]),
        ("1.0", [("limit", "invalid")]),
        ("", [("limit", "invalid")]),
        ("9" * 400, [("limit", "invalid")]),
        ("\u0661", [("limit", "invalid")]),
    ],
)
def test_limits(api: APIClient, link: str, limit: str, rules: list[tuple[str, str]]) -> None:
    assert broken_rules(api.get(f"/api/analytics/{link}", {"limit": limit})) == rules


@pytest.mark.parametrize("interval", ["week", "", "DAY", "day,hour", "\x00"])
def test_intervals(api: APIClient, link: str, interval: str) -> None:
    response = api.get(f"/api/analytics/{link}", {"interval": interval})
    assert [field for field, _ in broken_rules(response)] == ["interval"]


def test_all_validation_errors_are_returned_together(api: APIClient, link: str) -> None:
    query = {"startDate": "x", "endDate": "1", "timezone": "y", "limit": "z", "interval": "i"}
    assert {field for field, _ in broken_rules(api.get(f"/api/analytics/{link}", query))} == set(query)
