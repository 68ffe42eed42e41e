"""A campaign with clicks, and shares of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.test import Client
from rest_framework.test import APIClient

from testing.analytics.facts import Fact, record
from testing.visitors.agents import FIREFOX

NOW = datetime.now(UTC)


def at(days: int) -> str:
    return (NOW - timedelta(days=days)).replace(hour=0, minute=1).isoformat()


def reader(language: str = "en") -> Client:
    """A browser that has never been here. It has no cookies, and a response with one fails `read`."""
    return Client(
        enforce_csrf_checks=True,
        headers={"host": "sho.rt", "user-agent": FIREFOX, "accept": "text/html", "accept-language": language},
    )


def create_view(api: APIClient, name: str = "Spring campaign", **report: str) -> str:
    response = api.post("/api/views", {"name": name, "filters": {}, "report": report})
    assert response.status_code == 201, response.json()
    return response.json()["data"]["view"]["_id"]


def share(api: APIClient, **fields: Any) -> tuple[str, dict[str, Any]]:
    """The path of the page, and the share."""
    response = api.post("/api/analytics/shares", fields)
    assert response.status_code == 201, response.json()
    data = response.json()["data"]
    assert data["address"].startswith("http://sho.rt/reports/")
    return data["address"].removeprefix("http://sho.rt"), data["share"]


def click_on(link: str) -> None:
    """Four clicks today, three of them from Germany, and two a year ago."""
    record(
        link,
        [
            Fact(at(0), count=2),
            Fact(at(0), visitor="other", browser="Safari", device="mobile", operating_system="iOS"),
            Fact(at(0), country="FR", city="Paris", visitor="third", referrer="news.example.com"),
            Fact(at(360), count=2),
        ],
    )
