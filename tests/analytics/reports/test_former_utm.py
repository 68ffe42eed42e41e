"""Clicks count with the utm parameters that their link had at the end of their day, against a plain loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.models import Kind
from analytics.reports import click_log, scope
from links.models import FormerUtm, Link
from testing.analytics.facts import Fact, moment, record
from tests.analytics.reading import report

MakeLink = Callable[..., dict[str, Any]]

DAYS = [f"2026-03-0{day}" for day in range(1, 8)]
# The sources of three links, by the first day on which they had them.
SOURCES = [
    {"2026-03-01": "print", "2026-03-03": "", "2026-03-05": "mail"},
    {"2026-03-01": "mail", "2026-03-06": "print"},
    {"2026-03-01": "mail"},
]
CONDITIONS: dict[str, Callable[[str], bool]] = {
    "mail": lambda source: source == "mail",
    "print,none": lambda source: source in {"print", "none"},
    "-mail": lambda source: source != "mail",
    "none": lambda source: source == "none",
    "nothing": lambda source: False,
}
RANGES = [
    {"startDate": "2026-03-01", "endDate": "2026-03-07"},
    {"startDate": "2026-03-02", "endDate": "2026-03-05", "timezone": "Asia/Kathmandu"},
    {"startDate": "2026-03-03", "endDate": "2026-03-05", "timezone": "America/New_York", "interval": "hour"},
]


@pytest.fixture
def clicks(make_link: MakeLink) -> list[tuple[str, str, Fact]]:
    """The link, the source on its day, and the request of each fact."""
    random, found = Random(11), []
    for sources in SOURCES:
        *formers, (_, last) = sources.items()
        link = make_link(utm={"source": last})["_id"]
        row = Link.objects.get(public_id=link)
        for (_, former), until in zip(formers, [*sources][1:], strict=True):
            utm = {"source": former} if former else {}
            FormerUtm.objects.create(link_id=row.pk, owner_id=row.owner_id, until=until, utm=utm)
        each = [
            Fact(
                f"{random.choice(DAYS)}T{random.randrange(24):02}:{random.randrange(60):02}Z",
                random.choice(["DE", "FR"]),
                visitor=random.choice("abc"),
                kind=random.choice([Kind.CLICK, Kind.CLICK, Kind.CRAWLER]),
                count=random.randrange(1, 4),
            )
            for _ in range(60)
        ]
        record(link, each)
        for fact in each:
            source = [name for day, name in sources.items() if day <= fact.time[:10]][-1]
            found.append((link, source or "none", fact))
    return found


def inside(query: dict[str, str], fact: Fact) -> bool:
    zone = ZoneInfo(query.get("timezone", "UTC"))
    return query["startDate"] <= moment(fact).astimezone(zone).date().isoformat() <= query["endDate"]


@pytest.mark.slow
@pytest.mark.parametrize("are_many", [False, True], ids=["few links", "many links"])
def test_reports_by_utm_are_those_of_a_plain_loop(
    api: APIClient, clicks: list[tuple[str, str, Fact]], are_many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if are_many:
        monkeypatch.setattr(scope, "FEW_LINKS", 0)
    first = clicks[0][0]
    for query in RANGES:
        for name, holds in CONDITIONS.items():
            for country in (None, "DE"):
                wanted = [
                    (link, fact)
                    for link, source, fact in clicks
                    if holds(source) and inside(query, fact) and country in {None, fact.country}
                ]
                asked = {**query, "utmSource": name, "limit": 100}
                if country:
                    asked["country"] = country
                check(api.get("/api/analytics", asked).json()["data"], wanted, asked)
                of_link = [(link, fact) for link, fact in wanted if link == first]
                check(report(api, first, **asked), of_link, asked)
        for country in (None, "DE"):
            by_source: Counter[str] = Counter()
            for _, source, fact in clicks:
                if inside(query, fact) and fact.kind == Kind.CLICK and country in {None, fact.country}:
                    by_source[source] += fact.count
            asked = {**query, "groupBy": "utmSource"} | ({"country": country} if country else {})
            groups = api.get("/api/analytics", asked).json()["data"]["groups"]
            assert {row["value"]: row["clicks"] for row in groups} == by_source, asked


def check(data: dict[str, Any], wanted: list[tuple[str, Fact]], asked: dict[str, Any]) -> None:
    counted = [(link, fact) for link, fact in wanted if fact.kind == Kind.CLICK]
    assert data["totalClicks"] == sum(fact.count for _, fact in counted), asked
    assert sum(row["clicks"] for row in data["clicksByDate"]) == data["totalClicks"], asked
    countries: Counter[str] = Counter()
    links: Counter[str] = Counter()
    for link, fact in counted:
        countries[fact.country] += fact.count
        links[link] += fact.count
    assert {row["country"]: row["clicks"] for row in data["topCountries"]} == countries, asked
    if "topUrls" in data:
        assert {row["_id"]: row["clicks"] for row in data["topUrls"]} == links, asked


@pytest.mark.parametrize(("few", "some"), [(100, 5_000), (0, 5_000), (0, 0)])
def test_the_log_has_the_requests_of_these_days(
    api: APIClient,
    clicks: list[tuple[str, str, Fact]],
    few: int,
    some: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(click_log, "FEW_LINKS", few)
    monkeypatch.setattr(click_log, "SOME_LINKS", some)
    monkeypatch.setattr(scope, "FEW_LINKS", few)
    first = clicks[0][0]
    for name, holds in CONDITIONS.items():
        wanted = [(link, fact.count) for link, source, fact in clicks if holds(source)]
        assert logged(api, "/api/analytics/clicks", name) == sum(number for _, number in wanted), name
        of_link = sum(number for link, number in wanted if link == first)
        assert logged(api, f"/api/analytics/{first}/clicks", name) == of_link, name


def logged(api: APIClient, path: str, source: str) -> int:
    query = {"utmSource": source, "startDate": DAYS[0], "endDate": DAYS[-1], "limit": "100"}
    found = 0
    while True:
        data = api.get(path, query).json()["data"]
        found += len(data["clicks"])
        if data["pagination"]["nextCursor"] is None:
            return found
        query["cursor"] = data["pagination"]["nextCursor"]


def test_a_change_counts_from_its_day_on(
    api: APIClient, strange_api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    today = timezone.now().astimezone(UTC)
    link = make_link(utm={"source": "print"})["_id"]
    other = make_link()["_id"]
    record(link, [Fact((today - timedelta(days)).isoformat(), count=1 + days) for days in (0, 1)])
    for source in ("error", "mail"):
        assert api.patch(f"/api/urls/{link}", {"utm": {"source": source}}).status_code == 200
    assert api.patch(f"/api/urls/{link}", {"title": "Spring"}).status_code == 200
    assert api.patch(f"/api/urls/{other}", {"title": "Summer"}).status_code == 200
    query = {"period": "7d", "groupBy": "utmSource"}
    groups = api.get("/api/analytics", query).json()["data"]["groups"]
    assert [(row["value"], row["clicks"]) for row in groups] == [("print", 2), ("mail", 1)]
    for source, number in (("print", 2), ("mail", 1), ("error", 0)):
        assert report(api, link, period="7d", utmSource=source)["totalClicks"] == number
    [former] = FormerUtm.objects.all()
    assert (former.owner_id, former.until, former.utm) == (
        alice.workspace.pk,
        today.date(),
        {"source": "print"},
    )

    stranger = {"period": "all", "utmSource": "print"}
    assert strange_api.get("/api/analytics", stranger).json()["data"]["totalClicks"] == 0


def test_former_parameters_go_where_their_link_goes(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(utm={"source": "print"})["_id"]
    assert api.patch(f"/api/urls/{link}", {"utm": {}}).status_code == 200
    team = api.post("/api/workspaces", {"name": "Team"}).json()["data"]["workspace"]
    assert api.post("/api/urls/move", {"ids": [link], "workspaceId": team["_id"]}).status_code == 200
    [former] = FormerUtm.objects.all()
    assert former.owner_id == Link.objects.get(public_id=link).owner_id
    # A final deletion, as of an account.
    Link.objects.filter(public_id=link).delete()
    assert not FormerUtm.objects.exists()
