from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.models import DayTotal, Kind, LifeCount
from links.models import Link
from testing.analytics.clicks import drain
from testing.analytics.facts import Fact, record
from testing.pages.html import parse
from tests.analytics.reading import report

NOTHING_REFUSED = dict.fromkeys(
    [
        "disabled",
        "legal",
        "not_started",
        "expired",
        "limit_reached",
        "visitor_limit_reached",
        "country",
        "device",
        "password",
        "rate_limited",
    ],
    0,
)
MIXED = [
    Fact("2026-03-01T10:00Z", "DE", "Berlin", "desktop", referrer="https://news.example/a", visitor="a"),
    Fact("2026-03-01T11:00Z", "DE", "Berlin", "desktop", referrer="https://www.news.example/b", visitor="a"),
    Fact("2026-03-01T12:00Z", "FR", "Paris", "mobile", visitor="b", language="fr"),
    Fact("2026-03-03T00:00Z", "unknown", "unknown", "tablet", visitor="a"),
    Fact("2026-03-03T01:00Z", kind=Kind.CRAWLER, count=3),
    Fact("2026-03-02T01:00Z", kind=Kind.HEAD),
    Fact("2026-03-02T02:00Z", kind=Kind.PREFETCH, count=2),
    Fact("2026-03-01T01:00Z", kind=Kind.REFUSED, reason="country", count=4),
    Fact("2026-03-03T01:00Z", kind=Kind.REFUSED, reason="password"),
]


def test_link_without_clicks(api: APIClient, link: str) -> None:
    assert report(api, link) == {
        "totalClicks": 0,
        "uniqueClicks": 0,
        "importedClicks": 0,
        "scans": 0,
        "clicksByDate": [],
        "topCountries": [],
        "topLanguages": [],
        "topDevices": [],
        "topReferrers": [],
        "branches": [],
        "notCounted": {"crawler": 0, "prefetch": 0, "head": 0, "ignored": 0},
        "refused": NOTHING_REFUSED,
    }


@pytest.mark.parametrize("closed", ["1970-01-01", "2026-03-01", "2026-03-02", "2026-03-03", "2026-03-05"])
@time_machine.travel("2026-03-05T12:00Z")
def test_whole_lifetime(api: APIClient, link: str, closed: str) -> None:
    record(link, MIXED, closed=closed)
    assert report(api, link) == {
        "totalClicks": 4,
        "uniqueClicks": 3,
        "importedClicks": 0,
        "scans": 0,
        "clicksByDate": [
            {"date": "2026-03-01", "clicks": 3, "uniqueClicks": 2},
            {"date": "2026-03-02", "clicks": 0, "uniqueClicks": 0},
            {"date": "2026-03-03", "clicks": 1, "uniqueClicks": 1},
            {"date": "2026-03-04", "clicks": 0, "uniqueClicks": 0},
            {"date": "2026-03-05", "clicks": 0, "uniqueClicks": 0},
        ],
        "topCountries": [
            {"country": "DE", "clicks": 2},
            {"country": "FR", "clicks": 1},
            {"country": "unknown", "clicks": 1},
        ],
        "topLanguages": [{"language": "unknown", "clicks": 3}, {"language": "fr", "clicks": 1}],
        "topDevices": [
            {"device": "desktop", "clicks": 2},
            {"device": "mobile", "clicks": 1},
            {"device": "tablet", "clicks": 1},
        ],
        "topReferrers": [{"referrer": "direct", "clicks": 2}, {"referrer": "news.example", "clicks": 2}],
        "branches": [],
        "notCounted": {"crawler": 3, "prefetch": 2, "head": 1, "ignored": 0},
        "refused": {**NOTHING_REFUSED, "country": 4, "password": 1},
    }


def test_range_of_two_days(api: APIClient, link: str) -> None:
    record(link, MIXED)
    assert report(api, link, startDate="2026-03-02", endDate="2026-03-03") == {
        "totalClicks": 1,
        "uniqueClicks": 1,
        "importedClicks": 0,
        "scans": 0,
        "clicksByDate": [
            {"date": "2026-03-02", "clicks": 0, "uniqueClicks": 0},
            {"date": "2026-03-03", "clicks": 1, "uniqueClicks": 1},
        ],
        "topCountries": [{"country": "unknown", "clicks": 1}],
        "topLanguages": [{"language": "unknown", "clicks": 1}],
        "topDevices": [{"device": "tablet", "clicks": 1}],
        "topReferrers": [{"referrer": "direct", "clicks": 1}],
        "branches": [],
        "notCounted": {"crawler": 3, "prefetch": 2, "head": 1, "ignored": 0},
        "refused": {**NOTHING_REFUSED, "password": 1},
    }


def test_link_with_only_refused_requests(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-03-01T01:00Z", kind=Kind.REFUSED, reason="expired")])
    data = report(api, link)
    assert (data["totalClicks"], data["clicksByDate"]) == (0, [])
    assert data["refused"] == {**NOTHING_REFUSED, "expired": 1}


PARTS = ["", "/devices", "/geographic", "/clicks"]


@pytest.mark.parametrize("part", PARTS)
def test_stranger_gets_404(
    api: APIClient, strange_api: APIClient, anonymous: APIClient, link: str, part: str
) -> None:
    record(link, MIXED)
    path = f"/api/analytics/{link}{part}"
    assert api.get(path).status_code == 200
    for response in (strange_api.get(path), api.get(f"/api/analytics/{link[:-1]}x{part}")):
        assert response.status_code == 404
        assert response.json() == {"success": False, "message": "URL not found.", "code": "not_found"}
    for headers in ({}, {"x-api-key": "sl_live_" + "0" * 38}, {"authorization": "Bearer x"}):
        response = anonymous.get(path, headers=headers)
        assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")
    strangers = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    for values in report(strange_api, strangers["_id"], part).values():
        assert not values or isinstance(values, dict)


@pytest.mark.parametrize("part", PARTS)
def test_a_deleted_link_has_no_reports(api: APIClient, link: str, part: str) -> None:
    record(link, MIXED)
    api.delete(f"/api/urls/{link}")
    assert api.get(f"/api/analytics/{link}{part}").status_code == 404


def test_token_and_api_key_get_the_same_report(bearer: APIClient, link: str) -> None:
    record(link, MIXED)
    assert report(bearer, link)["totalClicks"] == 4


def test_reports_of_two_links_are_separate(api: APIClient, make_link: Callable[..., dict[str, Any]]) -> None:
    link, other_link = make_link()["_id"], make_link()["_id"]
    record(link, MIXED)
    record(other_link, [Fact("2026-03-01T00:00Z", "US")])
    assert report(api, link)["totalClicks"] == 4
    assert report(api, other_link)["topCountries"] == [{"country": "US", "clicks": 1}]


RANGES = [
    ({}, 5),  # the credential, the link, its first day, up to which day its life is kept, the report
    ({"timezone": "Asia/Kathmandu"}, 5),
    ({"startDate": "2026-03-01", "endDate": "2026-03-03"}, 3),
    ({"startDate": "2026-03-01", "endDate": "2026-03-03", "timezone": "Asia/Kathmandu"}, 3),
    ({"startDate": "2026-03-01", "endDate": "2026-03-03", "interval": "hour"}, 3),
]


@pytest.mark.parametrize("items", [1, 3])
@pytest.mark.parametrize("query_and_count", RANGES)
def test_query_count_is_constant(
    api: APIClient,
    link: str,
    django_assert_num_queries: Any,
    query_and_count: tuple[dict[str, str], int],
    items: int,
) -> None:
    query, queries = query_and_count
    record(link, [Fact(f"2026-03-0{n + 1}T12:00Z", country=f"D{n}", city=f"c{n}") for n in range(items)])
    with django_assert_num_queries(queries):
        assert len(report(api, link, **query)["topCountries"]) == items


def test_a_click_from_before_midnight_counted_after_the_first_day_was_looked_up(
    api: APIClient, link: str, monkeypatch: pytest.MonkeyPatch, alice: NewAccount
) -> None:
    """The day of the click precedes the steps; the sum of the steps still equals the total."""
    number = Link.objects.get(public_id=link).pk
    LifeCount.objects.create(link_id=number, dimension=1, value="DE", clicks=1)
    DayTotal.objects.create(link_id=number, day="2026-03-01", clicks=1, unique_clicks=1)
    monkeypatch.setattr(
        "analytics.reports.queries.FIRST_AND_LAST_DAY", "SELECT NULL, NULL WHERE %(link)s > 0"
    )
    with time_machine.travel("2026-03-02T00:00:01Z"):
        data = report(api, link)
    assert (data["totalClicks"], data["clicksByDate"]) == (
        1,
        [{"date": "2026-03-02", "clicks": 1, "uniqueClicks": 1}],
    )


def test_scans_are_clicks_with_the_qr_marker(
    visitor: Client, api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    plain, capped = make_link(), make_link(restrictions={"maxClicks": 9})
    for link in (plain, capped):
        for query in ("?qr=1", "?a=b&qr=1", "", "?qr=2", "?xqr=1"):
            response = visitor.get(f"/{link['shortCode']}{query}")
            assert (response.status_code, response["Location"]) == (302, "https://example.com/page")
        visitor.head(f"/{link['shortCode']}?qr=1")
    drain()

    today = datetime.now(UTC).date()
    for link in (plain, capped):
        kathmandu = {"startDate": today - timedelta(days=1), "timezone": "Asia/Kathmandu"}
        for query in ({}, {"startDate": today}, kathmandu):
            data = report(api, link["_id"], **query)
            assert (data["totalClicks"], data["scans"]) == (5, 2)


def test_scan_of_a_password_protected_link_is_counted_as_scan(
    visitor: Client, api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    link = make_link(password="secret")
    path = f"/{link['shortCode']}?qr=1"
    token = parse(visitor.get(path)).value_of("csrfmiddlewaretoken")
    unlocked = visitor.post(path, {"csrfmiddlewaretoken": token, "password": "secret"})
    assert (unlocked.status_code, unlocked["Location"]) == (303, path)
    assert visitor.get(unlocked["Location"]).status_code == 302
    drain()
    assert (report(api, link["_id"])["totalClicks"], report(api, link["_id"])["scans"]) == (1, 1)
