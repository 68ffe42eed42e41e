"""Clicks on all links of a workspace by day, and the sparklines of its links."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.counting.days import IMPORTED
from analytics.models import DayTotal
from links.models import ClickCounter, Link
from testing.accounts.keys import key_client, scoped_key
from testing.accounts.workspaces import team, token_client_in
from testing.analytics.clicks import drain

MakeLink = Callable[..., dict[str, Any]]
TODAY = datetime.now(UTC).date()


def day(ago: int) -> date:
    return TODAY - timedelta(days=ago)


def count(link: dict[str, Any], clicks: Iterable[tuple[int, int, int]], slot: int = 0) -> None:
    """``clicks``: for each day, how many days ago it was, its clicks and its unique clicks."""
    pk = Link.objects.get(public_id=link["_id"]).pk
    rows = [
        DayTotal(link_id=pk, day=day(ago), slot=slot, clicks=number, unique_clicks=unique)
        for ago, number, unique in clicks
    ]
    DayTotal.objects.bulk_create(rows)
    counter = ClickCounter.objects.get(link_id=pk)
    counter.clicks += sum(row.clicks for row in rows)
    counter.save()


def read(api: APIClient, **query: Any) -> Any:
    response = api.get("/api/analytics", {name: str(value) for name, value in query.items()})
    assert response.status_code == 200, response.json()
    return response.json()["data"]


def sparklines(api: APIClient, *links: dict[str, Any]) -> dict[str, list[int]]:
    response = api.get("/api/analytics/sparklines", {"urlIds": ",".join(link["_id"] for link in links)})
    assert response.status_code == 200, response.json()
    data = response.json()["data"]
    assert data["startDate"] == day(29).isoformat()
    return {line["_id"]: line["clicks"] for line in data["sparklines"]}


def test_clicks_of_visitors_are_in_the_report(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    first = make_link(title="First")
    make_link(customCode="second")
    for code in (first["shortCode"], first["shortCode"], "second"):
        assert visitor.get(f"/{code}").status_code == 302
    drain()
    report = read(api)
    assert (report["totalClicks"], report["uniqueClicks"], report["importedClicks"]) == (3, 2, 0)
    assert [step["date"] for step in report["clicksByDate"]] == [day(29 - n).isoformat() for n in range(30)]
    assert report["clicksByDate"][-1] == {"date": TODAY.isoformat(), "clicks": 3, "uniqueClicks": 2}
    [listed] = [url for url in api.get("/api/urls").json()["data"]["urls"] if url["_id"] == first["_id"]]
    names = ("_id", "originalUrl", "targetUrl", "shortCode", "shortUrl", "title", "status")
    assert report["topUrls"][0] == {
        **{name: listed[name] for name in names},
        "clicks": 2,
        "uniqueClicks": 1,
    }
    assert sparklines(api, first) == {first["_id"]: [0] * 29 + [2]}


def test_figures_add_up_to_those_of_the_days(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    """Random days are compared with a plain loop."""
    random = Random(7)
    links = [make_link() for _ in range(6)]
    stored: list[tuple[str, int, int, int]] = []
    for link in links[:5]:
        for slot in (0, 1, IMPORTED):
            rows = [
                (ago, random.randrange(9), 0 if slot == IMPORTED else random.randrange(3))
                for ago in random.sample(range(100), 40)
            ]
            count(link, rows, slot)
            stored += [(link["_id"], slot, *row[:2]) for row in rows]
    uniques = {(row.link_id, row.day, row.slot): row.unique_clicks for row in DayTotal.objects.all()}
    strange = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    count(strange, [(1, 1_000, 1_000)])
    for first, last in ((29, 0), (59, 30), (99, 0), (3, 3)):
        report = read(api, startDate=day(first), endDate=day(last), limit=3)
        inside = [row for row in stored if last <= row[2] <= first]
        by_day, by_link = Counter[int](), Counter[str]()
        for link_id, _, ago, clicks in inside:
            by_day[ago] += clicks
            by_link[link_id] += clicks
        assert report["totalClicks"] == sum(by_day.values())
        assert report["uniqueClicks"] == sum(
            number for (_, on, _), number in uniques.items() if day(first) <= on <= day(last)
        )
        assert report["importedClicks"] == sum(row[3] for row in inside if row[1] == IMPORTED)
        assert [step["clicks"] for step in report["clicksByDate"]] == [
            by_day[ago] for ago in range(first, last - 1, -1)
        ]
        most = [number for _, number in by_link.most_common(3) if number]
        assert [url["clicks"] for url in report["topUrls"]] == most
        assert all(by_link[url["_id"]] == url["clicks"] for url in report["topUrls"])
    assert read(strange_api)["totalClicks"] == 1_000


def test_deleted_links_leave_the_report_and_come_back(api: APIClient, make_link: MakeLink) -> None:
    kept, deleted = make_link(), make_link()
    count(kept, [(1, 2, 1)])
    count(deleted, [(1, 5, 4)])
    assert read(api)["totalClicks"] == 7
    api.delete(f"/api/urls/{deleted['_id']}")
    assert (read(api)["totalClicks"], [url["_id"] for url in read(api)["topUrls"]]) == (2, [kept["_id"]])
    assert sparklines(api, kept, deleted).keys() == {kept["_id"]}
    api.post(f"/api/urls/{deleted['_id']}/undelete")
    assert read(api)["totalClicks"] == 7


def test_a_workspace_without_clicks_has_zeros(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    report = read(api, startDate=day(1))
    assert report == {
        "totalClicks": 0,
        "uniqueClicks": 0,
        "importedClicks": 0,
        "clicksByDate": [{"date": day(ago).isoformat(), "clicks": 0, "uniqueClicks": 0} for ago in (1, 0)],
        "topUrls": [],
    }
    assert sparklines(api, link) == {link["_id"]: [0] * 30}
    assert sparklines(api) == {}


def test_too_many_days_of_links_are_refused_and_say_what_works(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.reports.workspaces.MAX_LINK_DAYS", 60)
    for _ in range(3):
        count(make_link(), [(0, 1, 1)])
    # A link without clicks costs nothing.
    make_link()
    assert read(api, startDate=day(19))["totalClicks"] == 3
    response = api.get("/api/analytics", {"startDate": day(20).isoformat()})
    assert response.status_code == 400
    [error] = response.json()["errors"]
    assert (error["field"], error["code"]) == ("startDate", "range_too_large")
    assert error["message"] == "Too many links have clicks to add up 21 days; choose at most 20 days."


def test_the_report_takes_the_same_queries_whatever_its_size(
    api: APIClient, make_link: MakeLink, django_assert_num_queries: Any
) -> None:
    links = [make_link() for _ in range(4)]
    for number, link in enumerate(links, start=1):
        count(link, [(0, number, 1)])
        if number in (1, 4):
            with django_assert_num_queries(4):
                assert len(read(api)["topUrls"]) == number
            with django_assert_num_queries(2):
                assert len(sparklines(api, *links[:number])) == number


def test_a_stranger_gets_nothing(api: APIClient, strange_api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    count(link, [(0, 5, 2)])
    assert (read(strange_api)["totalClicks"], read(strange_api)["topUrls"]) == (0, [])
    assert sparklines(strange_api, link) == {}
    assert sparklines(api, link) == {link["_id"]: [0] * 29 + [5]}


def test_a_limited_key_sees_the_sparklines_of_its_own_links(alice: NewAccount) -> None:
    workspace = team(alice)
    link = token_client_in(workspace, alice.user).post("/api/urls", {"originalUrl": "https://example.com/"})
    limited = key_client(scoped_key(workspace, alice.user, only_own=True).text)
    own = limited.post("/api/urls", {"originalUrl": "https://example.com/"})
    links = [response.json()["data"]["url"] for response in (link, own)]
    assert sparklines(limited, *links).keys() == {links[1]["_id"]}
    assert limited.get("/api/analytics").json()["code"] == "key_limited"


@pytest.mark.parametrize(
    "query",
    [
        {"urlIds": "nonsense"},
        {"urlIds": f"{uuid.uuid4()},"},
        {"urlIds": ",".join(str(uuid.uuid4()) for _ in range(101))},
    ],
    ids=["nonsense", "trailing comma", "101"],
)
def test_bad_ids_are_refused(api: APIClient, query: dict[str, str]) -> None:
    response = api.get("/api/analytics/sparklines", query)
    assert response.status_code == 400
    assert [error["field"] for error in response.json()["errors"]] == ["urlIds"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"startDate": "yesterday"}, "startDate"),
        ({"startDate": "2026-03-02", "endDate": "2026-03-01"}, "endDate"),
        ({"startDate": "2000-01-01", "endDate": "2026-03-01"}, "startDate"),
        ({"limit": "0"}, "limit"),
    ],
)
def test_bad_ranges_are_refused(api: APIClient, query: dict[str, str], field: str) -> None:
    response = api.get("/api/analytics", query)
    assert response.status_code == 400
    assert [error["field"] for error in response.json()["errors"]] == [field]
