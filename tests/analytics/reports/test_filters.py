"""Filters of clicks, alone and in pairs, compared with a plain loop over the clicks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from rest_framework.test import APIClient

from analytics.models import Kind, LifeCount
from testing.analytics.branches import branch, set_branches
from testing.analytics.facts import Fact, record
from testing.refusals import broken_rules
from tests.analytics.reading import report

PLACES = [
    ("DE", "Berlin"), ("DE", "unknown"), ("US", "Berlin"), ("US", "Washington, D.C."), ("JP", "Tokyo"),
    ("unknown", "unknown"),
]  # fmt: skip
# Berlin in Germany is in two of them, one of which the United States have, too; a region may be known without a city.
REGIONS = ["Berlin", "New York", "unknown"]
LANGUAGES = ["de", "en", "haw", "unknown"]
CONTINENTS = {"DE": "EU", "US": "NA", "JP": "AS", "unknown": "unknown"}
REFERRERS = {
    "": "direct",
    "https://www.google.de/": "search",
    "https://mail.google.com/mail": "email",
    "https://gemini.google.com/app": "ai",
    "https://l.facebook.com/x": "social",
    "https://news.example/a": "referral",
    "unknown": "unknown",
}
GERMANY, SPLIT = branch(1, "Germany"), branch(2, "B")
BRANCHES = {0: "none", 1: GERMANY["_id"], 2: SPLIT["_id"]}
QUERY = {"startDate": "2026-03-01", "endDate": "2026-03-03"}


def host(fact: Fact) -> str:
    if "://" not in fact.referrer:
        return fact.referrer or "direct"
    return (urlsplit(fact.referrer).hostname or "").removeprefix("www.")


def channel(fact: Fact) -> str:
    return "qr" if fact.scanned else REFERRERS[fact.referrer]


# Values of each filter, and what a click has.
FILTERS: dict[str, tuple[list[str], Callable[[Fact], Iterable[str]]]] = {
    "country": (["DE", "us,JP", "-DE", "unknown"], lambda fact: [fact.country]),
    "city": (
        ["Berlin", "DE Berlin", r"Washington\, D.C.", "-Berlin"],
        lambda fact: [fact.city, f"{fact.country} {fact.city}"],
    ),
    "region": (
        ["New York", "US Berlin", "-Berlin", "unknown", "-DE New York,-unknown"],
        lambda fact: [fact.region, f"{fact.country} {fact.region}"],
    ),
    "language": (["de", "EN,haw", "-de", "unknown"], lambda fact: [fact.language]),
    "continent": (["EU", "-EU,-unknown"], lambda fact: [CONTINENTS[fact.country]]),
    "device": (["mobile", "-mobile"], lambda fact: [fact.device]),
    "browser": (["Firefox", "-Firefox"], lambda fact: [fact.browser]),
    "os": (["Linux"], lambda fact: [fact.operating_system]),
    "referrer": (["google.de,direct", "-direct", "unknown"], lambda fact: [host(fact)]),
    "channel": (["search,email", "-qr,-direct", "qr", "ai", "social", "unknown"], lambda fact: [channel(fact)]),
    "branch": (["none", GERMANY["_id"], f"-{SPLIT['_id']}"], lambda fact: [BRANCHES[fact.branch]]),
}  # fmt: skip


def meets(fact: Fact, query: dict[str, str]) -> bool:
    for name, text in query.items():
        values = {value.lower() for value in FILTERS[name][1](fact)}
        parts = [part.replace("\0", ",").lower() for part in text.replace("\\,", "\0").split(",")]
        included = {part for part in parts if not part.startswith("-")}
        excluded = {part[1:] for part in parts if part.startswith("-")}
        if (included and not values & included) or values & excluded:
            return False
    return True


def facts(random: Random, number: int) -> list[Fact]:
    made = []
    for _ in range(number):
        place = random.choice(PLACES)
        kind = random.choices([*Kind], [20, 1, 1, 3, 2, 1])[0]
        made.append(
            Fact(
                f"2026-03-0{random.randrange(1, 5)}T{random.randrange(24):02}:{random.randrange(60):02}Z",
                *place,
                random.choice(["desktop", "mobile", "tablet"]),
                random.choice(["Firefox", "Chrome"]),
                random.choice(["Linux", "iOS"]),
                random.choice([*REFERRERS]),
                visitor=random.choice("abc"),
                kind=kind,
                reason=random.choice(["country", "expired"]) if kind == Kind.REFUSED else "",
                count=random.randrange(1, 3),
                branch=random.choice([0, 0, 1, 2]) if kind == Kind.CLICK else 0,
                scanned=kind == Kind.CLICK and random.random() < 0.2,
                language=random.choice(LANGUAGES),
                region=random.choice(REGIONS),
            )
        )
    return made


def inside(each: list[Fact]) -> list[Fact]:
    return [fact for fact in each if fact.time < "2026-03-04"]


def sums(each: Iterable[Fact], value: Callable[[Fact], str]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for fact in each:
        counted[value(fact)] += fact.count
    return counted


def listed(rows: list[dict[str, Any]], name: str) -> Counter[str]:
    return Counter({row[name]: row["clicks"] for row in rows})


def listed_places(rows: list[dict[str, Any]], name: str) -> Counter[str]:
    return Counter({f"{row['country']} {row[name]}": row["clicks"] for row in rows})


def cities(each: Iterable[Fact]) -> Counter[str]:
    return sums(each, lambda fact: f"{fact.country} {fact.city}")


def regions(each: Iterable[Fact]) -> Counter[str]:
    return sums(each, lambda fact: f"{fact.country} {fact.region}")


@pytest.fixture
def routed(link: str) -> str:
    set_branches(link, [GERMANY], [SPLIT])
    return link


def check(api: APIClient, path: str, query: dict[str, str], wanted: list[Fact]) -> dict[str, Any]:
    """Compare an overview with the plain loop over the requests that meet the filters."""
    response = api.get(path, {**QUERY, "limit": 100, **query})
    assert response.status_code == 200, (query, response.content)
    data: dict[str, Any] = response.json()["data"]
    clicks = [fact for fact in wanted if fact.kind == Kind.CLICK]
    total = sum(fact.count for fact in clicks)
    assert data["totalClicks"] == total, query
    assert {row["date"]: row["clicks"] for row in data["clicksByDate"]} == {
        day: sums(clicks, lambda fact: fact.time[:10])[day]
        for day in ("2026-03-01", "2026-03-02", "2026-03-03")
    }, query
    assert data["scans"] == sums(clicks, channel)["qr"], query
    assert listed(data["topCountries"], "country") == sums(clicks, lambda fact: fact.country), query
    assert listed(data["topLanguages"], "language") == sums(clicks, lambda fact: fact.language), query
    assert listed(data["topDevices"], "device") == sums(clicks, lambda fact: fact.device), query
    assert listed(data["topReferrers"], "referrer") == sums(clicks, host), query
    outcomes = sums(wanted, lambda fact: fact.reason or fact.kind.name.lower())
    assert data["notCounted"] == {
        name: outcomes[name] for name in ("crawler", "prefetch", "head", "ignored")
    }, query
    assert {name: clicks for name, clicks in data["refused"].items() if clicks} == {
        name: outcomes[name] for name in ("country", "expired") if outcomes[name]
    }, query
    return data


def queries() -> list[dict[str, str]]:
    single = [{name: value} for name, (values, _) in FILTERS.items() for value in values]
    random = Random(5)
    pairs = [
        {first: random.choice(FILTERS[first][0]), second: random.choice(FILTERS[second][0])}
        for first, second in combinations(FILTERS, 2)
    ]
    return [*single, *pairs]


@pytest.mark.slow
def test_a_filtered_report_of_a_link_is_that_of_a_plain_loop(api: APIClient, routed: str) -> None:
    each = facts(Random(3), 250)
    record(routed, each)
    each = inside(each)
    for query in queries():
        wanted = [fact for fact in each if meets(fact, query)]
        data = check(api, f"/api/analytics/{routed}", query, wanted)
        clicks = [fact for fact in wanted if fact.kind == Kind.CLICK]
        assert data["uniqueClicks"] is None
        by_branch = sums(clicks, lambda fact: BRANCHES[fact.branch])
        assert listed(data["branches"], "_id") == Counter(
            {GERMANY["_id"]: by_branch[GERMANY["_id"]], SPLIT["_id"]: by_branch[SPLIT["_id"]]}
        )
        devices = report(api, routed, "/devices", **QUERY, **query)
        assert listed(devices["devices"], "type") == sums(clicks, lambda fact: fact.device), query
        assert listed(devices["browsers"], "name") == sums(clicks, lambda fact: fact.browser), query
        assert listed(devices["operatingSystems"], "name") == sums(clicks, lambda fact: fact.operating_system)
        places = report(api, routed, "/geographic", **QUERY, **query)
        assert listed(places["countries"], "code") == sums(clicks, lambda fact: fact.country), query
        assert listed_places(places["cities"], "name") == cities(clicks), query
        assert listed_places(places["regions"], "name") == regions(clicks), query


@pytest.mark.slow
def test_a_filtered_report_of_a_workspace_is_that_of_a_plain_loop(
    api: APIClient, strange_api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    random = Random(4)
    links = [make_link(tags=[tag], utm={"source": tag}) for tag in ("a", "a", "b")]
    each: dict[str, list[Fact]] = {}
    for link in links:
        made = [fact._replace(branch=0) for fact in facts(random, 80)]
        record(link["_id"], made)
        each[link["_id"]] = inside(made)
    stranger = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    record(stranger["_id"], [Fact("2026-03-01T10:00Z", count=99)])
    selections: list[tuple[dict[str, str], list[int]]] = [
        ({}, [0, 1, 2]), ({"tags": "A"}, [0, 1]), ({"excludeTags": "a"}, [2]), ({"utmSource": "b"}, [2]),
        ({"urlIds": f"{links[0]['_id']},{stranger['_id']}"}, [0]), ({"utmMedium": "none"}, [0, 1, 2]),
        ({"utmSource": "-b"}, [0, 1]), ({"domainId": "base"}, [0, 1, 2]),
    ]  # fmt: skip
    for number, query in enumerate([{}, *queries()]):
        if "branch" in query:
            continue
        selection, chosen = selections[number % len(selections)]
        by_link = {
            links[index]["_id"]: [fact for fact in each[links[index]["_id"]] if meets(fact, query)]
            for index in chosen
        }
        wanted = [fact for some in by_link.values() for fact in some]
        data = check(api, "/api/analytics", {**selection, **query}, wanted)
        clicks = [fact for fact in wanted if fact.kind == Kind.CLICK]
        assert listed(data["topBrowsers"], "browser") == sums(clicks, lambda fact: fact.browser), query
        assert listed_places(data["topCities"], "city") == cities(clicks), query
        assert listed_places(data["topRegions"], "region") == regions(clicks), query
        totals = {
            link: sum(fact.count for fact in some if fact.kind == Kind.CLICK)
            for link, some in by_link.items()
        }
        assert listed(data["topUrls"], "_id") == Counter(totals), query
        assert data["otherUrls"]["clicks"] == 0
        nothing = strange_api.get("/api/analytics", {**QUERY, "tags": "a"}).json()["data"]
        assert (nothing["totalClicks"], nothing["topUrls"]) == (0, [])


def test_the_kinds_of_requests_can_be_counted_instead_of_clicks(api: APIClient, link: str) -> None:
    each = facts(Random(6), 120)
    record(link, [fact._replace(branch=0) for fact in each])
    each = inside(each)
    for text, kinds in (
        ("crawler", {Kind.CRAWLER}),
        ("-click", {*Kind} - {Kind.CLICK}),
        ("click,head", {Kind.CLICK, Kind.HEAD}),
    ):
        data = report(api, link, **QUERY, kind=text, device="mobile")
        wanted = [fact for fact in each if fact.kind in kinds and fact.device == "mobile"]
        assert data["totalClicks"] == sum(fact.count for fact in wanted)
        assert listed(data["topCountries"], "country") == sums(wanted, lambda fact: fact.country)
    assert broken_rules(api.get(f"/api/analytics/{link}", {"kind": "visit"})) == [("kind", "value")]


def test_days_and_hours_of_a_zone_are_filtered(api: APIClient, link: str) -> None:
    each = [fact._replace(branch=0) for fact in facts(Random(8), 150)]
    record(link, each)
    for zone, hours in (("Europe/Berlin", 1), ("Asia/Kathmandu", 5.75), ("America/New_York", -5)):
        query = {"startDate": "2026-03-02", "endDate": "2026-03-03", "timezone": zone}
        filtered = report(api, link, **query, country="DE", interval="hour")
        all_of_them = report(api, link, **query, kind="click", interval="hour")
        unfiltered = report(api, link, **query, interval="hour")
        assert [row["clicks"] for row in all_of_them["clicksByDate"]] == [
            row["clicks"] for row in unfiltered["clicksByDate"]
        ], (zone, hours)
        for name in ("topCountries", "topDevices", "topReferrers", "totalClicks", "scans"):
            assert all_of_them[name] == unfiltered[name], (zone, name)
        assert filtered["totalClicks"] == sum(row["clicks"] for row in filtered["clicksByDate"])
        assert filtered["totalClicks"] == listed(unfiltered["topCountries"], "country")["DE"]
        workspace = api.get("/api/analytics", {**query, "interval": "hour"}).json()["data"]
        for name in (
            "clicksByDate",
            "topCountries",
            "topDevices",
            "topReferrers",
            "totalClicks",
            "scans",
            "uniqueClicks",
        ):
            assert workspace[name] == unfiltered[name], (zone, name)


@time_machine.travel("2026-03-05T12:00Z")
def test_clicks_that_are_left_as_totals_only_are_refused(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-02-01T10:00Z")], raw=False)
    LifeCount.objects.all().delete()
    record(link, [Fact("2026-03-01T10:00Z", "FR", device="mobile")])
    path = f"/api/analytics/{link}"
    for query in ({"period": "all"}, {"startDate": "2026-02-01"}):
        response = api.get(path, {**query, "country": "FR"})
        assert broken_rules(response) == [("startDate", "range_too_large")]
        assert "choose a range from 2026-03-02 on" in response.json()["message"]
        assert response.json()["data"] == {"reason": "totals", "since": "2026-03-02"}
    assert report(api, link, startDate="2026-03-01", country="FR")["totalClicks"] == 1
    # One filter of which the roll-ups have the values.
    assert report(api, link, "/geographic", period="90d", country="DE")["countries"][0]["clicks"] == 1


def test_lists_that_a_limit_cuts_have_the_rest(api: APIClient, link: str) -> None:
    record(
        link,
        [Fact("2026-03-01T10:00Z", country, city, count=n) for n, (country, city) in enumerate(PLACES, 1)],
    )
    data = report(api, link, **QUERY, limit=2, device="desktop")
    assert data["topCountries"] == [
        {"country": "US", "clicks": 7}, {"country": "unknown", "clicks": 6},
        {"country": "other", "clicks": 8, "isRest": True},
    ]  # fmt: skip
    for query in ({"device": "desktop"}, {"continent": "-AN"}):
        places = report(api, link, "/geographic", **QUERY, limit=1, **query)
        assert [row["name"] for row in places["countries"]] == ["United States", "Other"]
        assert places["regions"] == [
            {"name": "unknown", "country": "US", "clicks": 7},
            {"name": "other", "country": "other", "clicks": 14, "isRest": True},
        ]
        assert places["cities"] == [
            {"name": "unknown", "country": "unknown", "clicks": 6},
            {"name": "other", "country": "other", "clicks": 15, "isRest": True},
        ]
    workspace = api.get("/api/analytics", {**QUERY, "limit": 1}).json()["data"]
    assert sum(row["clicks"] for row in workspace["topCities"]) == workspace["totalClicks"] == 21


@pytest.mark.parametrize("part", ["", "/devices", "/geographic"])
def test_bad_filters_are_refused(api: APIClient, link: str, part: str) -> None:
    path = f"/api/analytics/{link}{part}"
    for query, rule in (
        ({"country": "XX"}, ("country", "value")),
        ({"country": "DE,"}, ("country", "blank_value")),
        ({"device": "phone"}, ("device", "value")),
        ({"continent": "Europe"}, ("continent", "value")),
        ({"channel": "tv"}, ("channel", "value")),
        ({"branch": "x"}, ("branch", "value")),
        ({"language": "pt-BR"}, ("language", "value")),
        ({"language": "german"}, ("language", "value")),
        ({"browser": ",".join("abcdefghijk" * 10)}, ("browser", "max_values")),
        ({"city": ""}, ("city", "blank")),
    ):
        assert broken_rules(api.get(path, query)) == [rule], query
    # A filter that is ignored would read like an answer.
    for name in ("contry", "campaign", "tags", "urlIds", "search"):
        assert broken_rules(api.get(path, {name: "DE"})) == [(name, "unknown_field")], name
    assert broken_rules(api.get(f"{path}?country=DE&country=US")) == [("country", "repeated")]
