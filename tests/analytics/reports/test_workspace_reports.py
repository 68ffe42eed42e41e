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
from analytics.serializers import WorkspaceQuery
from links.models import ClickCounter, Link
from links.representations import REPORT_PARAMETERS
from testing.accounts.keys import key_client, scoped_key
from testing.accounts.workspaces import team, token_client_in
from testing.analytics.clicks import drain
from testing.analytics.facts import Fact, record
from testing.refusals import broken_rules

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
    lists = (
        *("Countries", "Regions", "Cities", "Devices", "Browsers", "OperatingSystems", "Languages"),
        *("Referrers", "Urls"),
    )
    for filters in ({}, {"country": "DE"}):
        unique = None if filters else 0
        report = read(api, startDate=day(1), **filters)
        assert set(report.pop("refused").values()) == set(report.pop("notCounted").values()) == {0}
        assert report == {
            "totalClicks": 0,
            "uniqueClicks": unique,
            "importedClicks": 0,
            "scans": 0,
            "clicksByDate": [
                {"date": day(ago).isoformat(), "clicks": 0, "uniqueClicks": unique} for ago in (1, 0)
            ],
            **{f"top{name}": [] for name in lists},
            "otherUrls": {"clicks": 0, "uniqueClicks": unique},
        }
    assert read(api, period="all")["clicksByDate"] == [
        {"date": TODAY.isoformat(), "clicks": 0, "uniqueClicks": 0}
    ]
    assert sparklines(api, link) == {link["_id"]: [0] * 30}
    assert sparklines(api) == {}


def test_too_many_days_of_links_are_refused_and_say_what_works(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.reports.figures.MAX_LINK_DAYS", 60)
    for _ in range(3):
        count(make_link(), [(ago, 1, 1) for ago in range(30)])
    # A day without clicks costs nothing.
    count(make_link(), [(0, 1, 1)])
    assert read(api, startDate=day(14))["totalClicks"] == 46
    for query in ({"startDate": day(20).isoformat()}, {"period": "30d"}, {"period": "all"}):
        response = api.get("/api/analytics", query)
        assert broken_rules(response) == [("startDate", "range_too_large")]
        assert (
            "more than 60 days with clicks to add up; choose at most 15 days," in response.json()["message"]
        )
        assert response.json()["data"] == {"reason": "link_days", "limit": 60, "days": 15}
    monkeypatch.setattr("analytics.reports.raw.MAX_REQUESTS", 2)
    filtered = {"startDate": TODAY.isoformat(), "device": "mobile"}
    record(make_link()["_id"], [Fact(f"{TODAY}T00:00Z", count=3)])
    refused = api.get("/api/analytics", filtered)
    assert broken_rules(refused) == [("startDate", "range_too_large")]
    assert refused.json()["data"] == {"reason": "requests", "limit": 2}
    assert "more than 2 requests" in refused.json()["message"]


def test_a_statement_that_takes_too_long_is_ended(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(make_link()["_id"], [Fact(f"{TODAY}T00:00Z")])
    slow = "SELECT link_id FROM links_clickcounter WHERE owner_id = %(owner)s AND pg_sleep(0.5) IS NOT NULL"
    monkeypatch.setattr("analytics.reports.selected._LIMITS", "SET LOCAL statement_timeout = 50")
    monkeypatch.setattr("analytics.reports.scope._ALL", slow)
    monkeypatch.setattr("analytics.reports.scope.FEW_LINKS", 0)
    for query in ({}, {"country": "DE"}, {"period": "all"}):
        response = api.get("/api/analytics", query)
        assert (response.status_code, response.json()["code"]) == (503, "report_too_slow")
        assert response.json()["message"].endswith("fewer links by tags, domainId, creator or urlIds.")
        assert response["Retry-After"] == "2"


def test_the_report_takes_the_same_queries_whatever_its_size(
    api: APIClient, make_link: MakeLink, django_assert_num_queries: Any
) -> None:
    links = [make_link() for _ in range(4)]
    for number, link in enumerate(links, start=1):
        count(link, [(0, number, 1)])
        if number in (1, 4):
            with django_assert_num_queries(7):
                assert len(read(api)["topUrls"]) == number
            with django_assert_num_queries(2):
                assert len(sparklines(api, *links[:number])) == number


def test_a_stranger_gets_nothing(api: APIClient, strange_api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    count(link, [(0, 5, 2)])
    assert (read(strange_api)["totalClicks"], read(strange_api)["topUrls"]) == (0, [])
    assert sparklines(strange_api, link) == {}
    assert sparklines(api, link) == {link["_id"]: [0] * 29 + [5]}


def test_a_limited_key_sees_the_clicks_of_its_own_links(alice: NewAccount) -> None:
    workspace = team(alice)
    link = token_client_in(workspace, alice.user).post("/api/urls", {"originalUrl": "https://example.com/"})
    limited = key_client(scoped_key(workspace, alice.user, only_own=True).text)
    own = limited.post("/api/urls", {"originalUrl": "https://example.com/"})
    links = [response.json()["data"]["url"] for response in (link, own)]
    assert sparklines(limited, *links).keys() == {links[1]["_id"]}
    for number, url in enumerate(links, start=1):
        count(url, [(0, number, 1)])
    assert (read(limited)["totalClicks"], [url["_id"] for url in read(limited)["topUrls"]]) == (
        2,
        [links[1]["_id"]],
    )
    assert read(limited, urlIds=links[0]["_id"])["totalClicks"] == 0


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


def test_links_are_selected_like_those_of_lists(
    api: APIClient, strange_api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    links = [make_link(tags=tags) for tags in (["a", "b"], ["a"], ["b", "c"], [])]
    for number, link in enumerate(links):
        count(link, [(0, 10**number, 1)])
    account = str(alice.user.public_id)
    for query, clicks in (
        ({"tags": "a"}, 11),
        ({"tags": "A,b"}, 111),
        ({"tags": "a,b", "tagsMode": "all"}, 1),
        ({"excludeTags": "a"}, 1100),
        ({"tags": "b", "excludeTags": "c"}, 1),
        ({"tags": "unused"}, 0),
        ({"urlIds": f"{links[1]['_id']},{links[3]['_id']}"}, 1010),
        ({"urlIds": links[0]["_id"], "tags": "c"}, 0),
        ({"domainId": "base"}, 1111),
        ({"creator": account}, 1111),
        ({"creator": str(uuid.uuid4())}, 0),
    ):
        assert read(api, **query)["totalClicks"] == clicks, query
    assert read(strange_api, creator=account)["totalClicks"] == 0
    missing = api.get("/api/analytics", {"domainId": str(uuid.uuid4())})
    assert (missing.status_code, missing.json()["message"]) == (404, "Domain not found.")
    for query, rule in (
        ({"creator": "me"}, ("creator", "id")),
        ({"urlIds": "x"}, ("urlIds", "ids")),
        ({"tagsMode": "x"}, ("tagsMode", "invalid_choice")),
    ):
        assert broken_rules(api.get("/api/analytics", query)) == [rule]


def test_reports_of_many_links_are_those_of_few(
    api: APIClient, strange_api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the rows of all links are read, and those of others left out."""
    links = [make_link(tags=["a"]), make_link(tags=["a", "b"]), make_link()]
    links.append(strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"])
    for number, link in enumerate(links, start=1):
        times = [f"{day(ago)}T{ago:02}:40Z" for ago in (2, 17)]
        record(link["_id"], [Fact(time, "DE", "Berlin", count=number) for time in times])
    queries: list[dict[str, str]] = [
        {"period": "30d", "groupBy": "tag"}, {"period": "7d", "timezone": "Asia/Tokyo"}, {"period": "all"},
        {"period": "7d", "interval": "hour"}, {"period": "30d", "country": "DE"}, {"groupBy": "weekdayHour"},
    ]  # fmt: skip
    reports = []
    for few, of_all in ((20_000, 0), (0, 0), (0, 1_000)):
        monkeypatch.setattr("analytics.reports.scope.FEW_LINKS", few)
        monkeypatch.setattr("analytics.reports.selected.MAX_OF_ALL", of_all)
        reports.append([read(api, tags="a", **query) for query in queries])
    assert [report["totalClicks"] for report in reports[0]] == [6, 3, 6, 3, 6, 6]
    assert reports[0] == reports[1] == reports[2]


def test_the_report_of_a_team_selects_by_creator(alice: NewAccount) -> None:
    workspace = team(alice)
    client = token_client_in(workspace, alice.user)
    link = client.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    count(link, [(0, 3, 1)])
    assert read(client, creator=str(alice.user.public_id))["totalClicks"] == 3
    assert read(client, creator=str(uuid.uuid4()))["totalClicks"] == 0


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


def test_a_campaign_keeps_every_parameter_of_the_report_but_its_sizes() -> None:
    assert {*REPORT_PARAMETERS} == WorkspaceQuery().fields.keys() - {"limit", "groupBy", "format", "manifest"}
