"""The click log names branches and locations of the time of each click."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from rest_framework.test import APIClient

from analytics.dimensions import UNKNOWN_BRANCH
from analytics.models import Kind
from links.models import Link, Route
from testing.analytics.branches import LONG_AGO, branch, set_branches
from testing.analytics.facts import Fact, record
from testing.analytics.raw_clicks import set_branch_of_all_clicks
from tests.analytics.reading import report
from tests.analytics.reports.branch_reports import FRANCE, GERMANY, SPLIT
from tests.analytics.reports.branch_reports import routed as routed


def log(api: APIClient, link: str, **query: object) -> list[tuple[str | None, str | None, str | None]]:
    """The ``_id`` and the name of the branch, and the location, oldest first."""
    clicks = report(api, link, "/clicks", **query)["clicks"]
    return [
        (
            *((item["branch"]["_id"], item["branch"]["name"]) if item["branch"] else (None, None)),
            item["location"],
        )
        for item in reversed(clicks)
    ]


def test_log_of_a_plain_link_shows_its_destination(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-03-01T10:00Z"), Fact("2026-03-01T11:00Z", kind=Kind.REFUSED, reason="country")])
    assert log(api, link) == [(None, None, "https://example.com/page"), (None, None, None)]


def test_log_shows_branch_and_location_of_the_time_of_the_click(api: APIClient, routed: str) -> None:
    moved = {
        **GERMANY,
        "url": "https://example.com/moved",
        "href": "https://example.com/moved",
        "name": "Moved",
    }
    set_branches(routed, [moved, FRANCE], since="2026-03-02T00:00Z")
    new = branch(3, "New")
    set_branches(routed, [moved], [new], since="2026-03-03T00:00Z")
    record(routed, [Fact(f"2026-03-0{day}T10:00Z", branch=number) for day in (1, 2, 3) for number in (1, 3)])
    # Of a number without a branch at the time: the last branch that had it.
    assert log(api, routed) == [
        (GERMANY["_id"], "Moved", "https://example.com/1"),
        (SPLIT["_id"], "B", "https://example.com/3"),
        (GERMANY["_id"], "Moved", "https://example.com/moved"),
        (SPLIT["_id"], "B", "https://example.com/3"),
        (GERMANY["_id"], "Moved", "https://example.com/moved"),
        (new["_id"], "New", "https://example.com/3"),
    ]


def test_log_shows_the_target_of_the_time_of_the_click(api: APIClient, link: str) -> None:
    pk = Link.objects.get(public_id=link).pk
    Link.objects.filter(pk=pk).update(target_url="https://b.example", destination="https://b.example/")
    Route.objects.filter(link_id=pk, until=None).update(since="2026-03-02T00:00Z")
    Route.objects.filter(link_id=pk).exclude(until=None).update(since=LONG_AGO)
    record(link, [Fact(f"2026-03-0{day}T10:00Z") for day in (1, 2)])
    assert log(api, link) == [(None, None, "https://example.com/page"), (None, None, "https://b.example/")]


def test_log_shows_the_branch_of_requests_that_are_not_clicks(api: APIClient, routed: str) -> None:
    record(routed, [Fact("2026-03-01T10:00Z", branch=2, kind=Kind.HEAD)])
    assert log(api, routed, kind="head") == [(FRANCE["_id"], "France", "https://example.com/2")]


@pytest.mark.parametrize(
    "change", [Route.objects.all().delete, partial(set_branch_of_all_clicks, UNKNOWN_BRANCH)]
)
def test_log_of_a_branch_without_history_shows_neither_branch_nor_location(
    api: APIClient, routed: str, change: Callable[[], object]
) -> None:
    record(routed, [Fact("2026-03-01T10:00Z", branch=1)])
    change()
    assert log(api, routed) == [(None, None, None)]


@pytest.mark.parametrize("items", [1, 3])
def test_query_count_of_the_log_is_constant(
    api: APIClient, routed: str, django_assert_num_queries: Any, items: int
) -> None:
    record(routed, [Fact(f"2026-03-01T1{n}:00Z", branch=n + 1) for n in range(items)])
    with django_assert_num_queries(3):
        assert len(log(api, routed)) == items
