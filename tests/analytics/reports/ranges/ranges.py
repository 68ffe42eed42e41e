"""Ranges of reports."""

from __future__ import annotations

from rest_framework.test import APIClient

from tests.analytics.reading import report


def dated(api: APIClient, link: str, **query: object) -> dict[str, int]:
    """The clicks by date; checks that the sums of clicks and of unique clicks equal the totals."""
    data = report(api, link, **query)
    clicks_by_date = {item["date"]: item["clicks"] for item in data["clicksByDate"]}
    assert len(clicks_by_date) == len(data["clicksByDate"])
    assert sum(clicks_by_date.values()) == data["totalClicks"] >= data["uniqueClicks"]
    assert sum(item["uniqueClicks"] for item in data["clicksByDate"]) == data["uniqueClicks"]
    assert all(item["uniqueClicks"] <= item["clicks"] for item in data["clicksByDate"])
    return clicks_by_date
