"""The whole path from a redirect to the reports."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from testing.analytics.clicks import drain
from tests.analytics.reading import report

REFERRERS = [
    "",
    "https://www.news.example:8443/a?b#c",
    "https://news.example/d",
    "http://[::1]/",
    "android-app://app.example/",
]
ZONES = ["UTC", "Asia/Kathmandu", "Pacific/Kiritimati", "Etc/GMT+12"]


@pytest.mark.parametrize("zone", ZONES)
def test_redirects_appear_in_reports(
    api: APIClient, visitor: Client, make_link: Callable[..., dict[str, Any]], zone: str
) -> None:
    link = make_link(customCode="spring", restrictions={"blockedCountries": ["US"]})["_id"]
    for referrer in REFERRERS:
        visitor.get(
            "/spring",
            headers={"accept-language": "pt-BR,en;q=0.5", **({"referer": referrer} if referrer else {})},
        )
    visitor.head("/spring")
    visitor.get("/spring", REMOTE_ADDR="8.8.8.8")
    drain()
    # All of today and, so that every zone is covered, the days around it.
    today = datetime.now(UTC)
    around = {
        "startDate": (today - timedelta(days=1)).date().isoformat(),
        "endDate": (today + timedelta(days=1)).date().isoformat(),
    }
    for dates in ({}, around):
        query = {"timezone": zone, **dates}
        data = report(api, link, **query)
        assert (data["totalClicks"], data["uniqueClicks"]) == (5, 1)
        assert sum(item["clicks"] for item in data["clicksByDate"]) == 5
        assert data["topReferrers"] == [
            {"referrer": "news.example", "clicks": 2},
            {"referrer": "[::1]", "clicks": 1},
            {"referrer": "app.example", "clicks": 1},
            {"referrer": "direct", "clicks": 1},
        ]
        assert (data["notCounted"]["head"], data["refused"]["country"]) == (1, 1)
        assert data["topLanguages"] == [{"language": "pt", "clicks": 5}]
        assert report(api, link, "/devices", **query)["browsers"] == [
            {"name": "Firefox", "clicks": 5, "percentage": 100.0}
        ]
        assert report(api, link, "/geographic", **query) == {
            "countries": [{"code": "unknown", "name": "Unknown", "clicks": 5, "percentage": 100.0}],
            "regions": [{"name": "unknown", "country": "unknown", "clicks": 5}],
            "cities": [{"name": "unknown", "country": "unknown", "clicks": 5}],
        }
        log = report(api, link, "/clicks", **query)["clicks"]
        assert [item["kind"] for item in log] == ["refused", "head", *["click"] * 5]
        assert "8.8.8.8" not in str(log)


@pytest.mark.parametrize("zone", ZONES)
def test_referrers_of_a_day_agree_between_utc_and_another_zone(
    api: APIClient, visitor: Client, make_link: Callable[..., dict[str, Any]], zone: str
) -> None:
    link = make_link(customCode="spring")["_id"]
    for referrer in REFERRERS:
        visitor.get("/spring", headers={"referer": referrer} if referrer else {})
    drain()
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    data = report(api, link, timezone=zone, startDate=now, endDate=now)
    assert data["topReferrers"] == report(api, link)["topReferrers"]
    assert data["totalClicks"] == 5
