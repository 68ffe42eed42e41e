"""The branches of a link (its rules and the entries of its split) in the overview and in the click log."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from rest_framework.test import APIClient

from analytics.counting.imported_days import add_days
from analytics.dimensions import UNKNOWN_BRANCH
from analytics.models import Kind
from links.models import Link, Route
from testing.analytics.branches import Branch, branch, set_branches
from testing.analytics.facts import Fact, moment, record
from testing.analytics.raw_clicks import set_branch_of_all_clicks
from testing.contract.description import validate, without_undescribed_keys
from tests.analytics.reading import report
from tests.analytics.reports.branch_reports import FRANCE, GERMANY, SPLIT
from tests.analytics.reports.branch_reports import routed as routed


def row(entry: Branch, clicks: int, unique_clicks: int, percentage: float, **changes: str) -> dict[str, Any]:
    figures = {"clicks": clicks, "uniqueClicks": unique_clicks, "percentage": percentage}
    return {**{name: entry[name] for name in ("_id", "name", "url")}, **figures, **changes}


def branches(api: APIClient, link: str, **query: object) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = report(api, link, **query)["branches"]
    return rows


# The overview


def test_branches_without_clicks_are_listed_in_the_order_of_the_link(api: APIClient, routed: str) -> None:
    expected = [row(entry, 0, 0, 0.0) for entry in (GERMANY, FRANCE, SPLIT)]
    assert branches(api, routed) == branches(api, routed, startDate="2026-03-01") == expected
    set_branches(routed, [FRANCE, GERMANY], [SPLIT])
    assert [item["name"] for item in branches(api, routed)] == ["France", "Germany", "B"]


def test_most_clicked_branch_is_first_and_the_rest_led_to_the_link_itself(
    api: APIClient, routed: str
) -> None:
    record(
        routed,
        [
            Fact("2026-03-01T10:00Z", branch=3, visitor="a", count=2),
            Fact("2026-03-01T11:00Z", branch=2, visitor="a"),
            Fact("2026-03-01T12:00Z", branch=1, visitor="b"),
            Fact("2026-03-01T13:00Z", visitor="c", count=2),
            Fact("2026-03-01T14:00Z", branch=1, kind=Kind.CRAWLER),
        ],
    )
    assert branches(api, routed) == [
        row(SPLIT, 2, 1, 33.3),
        row(GERMANY, 1, 1, 16.7),
        row(FRANCE, 1, 0, 16.7),
    ]
    assert branches(api, routed, limit=1) == branches(api, routed)
    assert report(api, routed)["uniqueClicks"] == 3


def test_deleted_branch_keeps_its_figures_under_its_last_name(api: APIClient, routed: str) -> None:
    renamed = {
        **SPLIT,
        "name": "Last name",
        "url": "https://example.com/new",
        "href": "https://example.com/new",
    }
    record(routed, [Fact("2026-03-01T10:00Z", branch=3), Fact("2026-03-01T10:00Z", branch=2)])
    set_branches(routed, [GERMANY, FRANCE], [renamed], since="2026-03-02T00:00Z")
    set_branches(routed, [GERMANY], since="2026-03-03T00:00Z")
    deleted = [row(renamed, 1, 1, 50.0), row(FRANCE, 1, 0, 50.0)]
    days = {"startDate": "2026-03-01", "endDate": "2026-03-01"}
    for query in ({}, days, {**days, "timezone": "Asia/Kathmandu"}):
        assert branches(api, routed, **query) == [*deleted, row(GERMANY, 0, 0, 0.0)]
    assert branches(api, routed, startDate="2026-03-02", endDate="2026-03-04") == [row(GERMANY, 0, 0, 0.0)]


def test_number_that_is_used_again_belongs_to_two_branches(api: APIClient, routed: str) -> None:
    successor = branch(1, "Austria")
    set_branches(routed, [successor, FRANCE], [SPLIT], since="2026-03-02T00:00Z")
    times = ["2026-03-01T10:00Z", "2026-03-01T11:00Z", "2026-03-02T10:00Z"]
    record(routed, [Fact(time, branch=1) for time in times])
    assert branches(api, routed)[:2] == [row(GERMANY, 2, 1, 66.7), row(successor, 1, 1, 33.3)]


def test_branches_of_two_links_are_separate(
    api: APIClient, routed: str, make_link: Callable[..., dict[str, Any]]
) -> None:
    other = make_link()["_id"]
    record(routed, [Fact("2026-03-01T10:00Z", branch=1)])
    record(other, [Fact("2026-03-01T10:00Z")])
    assert branches(api, other) == []


def test_imported_visits_have_no_branch(api: APIClient, routed: str) -> None:
    record(routed, [Fact("2026-03-01T10:00Z", branch=1)], closed="2026-03-02")
    add_days({(Link.objects.get(public_id=routed).pk, date(2026, 3, 1)): 3})
    for query in ({}, {"startDate": "2026-03-01"}, {"startDate": "2026-03-01", "timezone": "Asia/Kathmandu"}):
        data = report(api, routed, **query)
        assert data["totalClicks"] == 4
        assert data["branches"][0] == row(GERMANY, 1, 1, 25.0)


def clicks_on(facts: list[Fact], zone: ZoneInfo, first: date, last: date) -> dict[str, tuple[int, int]]:
    """Clicks and unique clicks of each branch on these days of the zone, counted one by one."""
    clicks: Counter[int] = Counter()
    unique: Counter[int] = Counter()
    visitors = set()
    for fact in sorted(facts, key=moment):
        time = moment(fact)
        is_unique = (time.date(), fact.visitor) not in visitors
        visitors.add((time.date(), fact.visitor))
        if first <= time.astimezone(zone).date() <= last:
            clicks[fact.branch] += 1
            unique[fact.branch] += is_unique
    names = {1: "Germany", 2: "France", 3: "B"}
    return {name: (clicks[number], unique[number]) for number, name in names.items()}


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/New_York", "Pacific/Kiritimati"])
@pytest.mark.parametrize("closed", ["1970-01-01", "2026-03-02", "2026-03-31"])
@time_machine.travel("2026-03-05T12:00Z")
def test_figures_of_every_range_and_zone(api: APIClient, routed: str, zone: str, closed: str) -> None:
    chance = random.Random(zone)
    start = datetime(2026, 3, 1, tzinfo=UTC)
    facts = [
        Fact(
            (start + timedelta(minutes=chance.randrange(4 * 24 * 60))).isoformat(),
            branch=chance.randrange(4),
            visitor=chance.choice("abc"),
        )
        for _ in range(60)
    ]
    record(routed, facts, closed=closed)
    ranges = [
        (date(2026, 3, 1) + timedelta(days=n), date(2026, 3, 1 + m)) for n in range(4) for m in range(n, 4)
    ]
    for interval in ("hour", "day", "month"):
        for first, last in [*ranges, (date(2026, 2, 20), date(2026, 3, 10))]:
            data = report(api, routed, startDate=first, endDate=last, timezone=zone, interval=interval)
            figures = {item["name"]: (item["clicks"], item["uniqueClicks"]) for item in data["branches"]}
            assert figures == clicks_on(facts, ZoneInfo(zone), first, last)
            rest = data["totalClicks"] - sum(item["clicks"] for item in data["branches"])
            assert rest >= 0
    whole = {
        item["name"]: (item["clicks"], item["uniqueClicks"]) for item in branches(api, routed, timezone=zone)
    }
    assert whole == clicks_on(facts, ZoneInfo("UTC"), date(2026, 1, 1), date(2026, 12, 31))


def test_clicks_whose_details_were_deleted_count_as_the_rest(api: APIClient, routed: str) -> None:
    """The branch of a click in a partial UTC day is known only from the raw click."""
    record(routed, [Fact("2026-03-01T10:00Z", branch=1), Fact("2026-03-02T10:00Z", branch=1)], raw=False)
    query = {"startDate": "2026-03-01", "endDate": "2026-03-02", "timezone": "Asia/Kathmandu"}
    assert report(api, routed, **query)["totalClicks"] == 2
    assert branches(api, routed, **query)[0] == row(GERMANY, 1, 1, 50.0)
    assert branches(api, routed)[0]["clicks"] == 2


def test_clicks_on_an_unknown_branch_count_as_the_rest(api: APIClient, routed: str) -> None:
    record(routed, [Fact("2026-03-01T10:00Z"), Fact("2026-03-01T11:00Z", branch=1)])
    Route.objects.all().delete()
    kathmandu = {"startDate": "2026-03-01", "endDate": "2026-03-01", "timezone": "Asia/Kathmandu"}
    set_branch_of_all_clicks(UNKNOWN_BRANCH)
    assert [item["clicks"] for item in branches(api, routed, **kathmandu)] == [0, 0, 0]


DAYS = {"startDate": "2026-03-01", "endDate": "2026-03-03"}
QUERIES = [
    ({}, 5),
    ({"timezone": "Asia/Kathmandu"}, 5),
    (DAYS, 3),
    ({**DAYS, "timezone": "Asia/Kathmandu"}, 3),
]


@pytest.mark.parametrize("deleted", [0, 1, 3])
@pytest.mark.parametrize("query_and_count", QUERIES)
def test_only_deleted_branches_with_clicks_cost_a_query(
    api: APIClient,
    link: str,
    django_assert_num_queries: Any,
    query_and_count: tuple[dict[str, str], int],
    deleted: int,
) -> None:
    """It takes as many queries as for a link without branches, and one more for the names of deleted branches."""
    query, queries = query_and_count
    entries = [branch(number) for number in range(1, 6)]
    set_branches(link, entries)
    record(link, [Fact(f"2026-03-02T{number}:00Z", branch=number - 9) for number in range(10, 15)])
    set_branches(link, entries[deleted:], since="2026-03-03T00:00Z")
    with django_assert_num_queries(queries + (deleted > 0)):
        assert len(branches(api, link, **query)) == 5


# The description of the API


@pytest.mark.parametrize("part", ["", "/clicks"])
def test_branches_agree_with_the_description(
    api: APIClient, anonymous: APIClient, routed: str, part: str
) -> None:
    record(
        routed,
        [
            Fact("2026-03-01T10:00Z", branch=1),
            Fact("2026-03-01T11:00Z"),
            Fact("2026-03-01T12:00Z", kind=Kind.REFUSED, reason="country"),
        ],
    )
    described = without_undescribed_keys(anonymous.get("/api/schema").json())
    operation = described["paths"][f"/api/analytics/{{urlId}}{part}"]["get"]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    validate(described, schema, api.get(f"/api/analytics/{routed}{part}").json())
