"""A number stands for different branches over time."""

from __future__ import annotations

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from rest_framework.test import APIClient

from analytics.counting.audit import differences
from analytics.journal.capture import record_visit
from analytics.models import Click
from links.models import Link, Route
from testing.analytics.branches import branch, set_branches
from testing.analytics.clicks import drain
from tests.analytics.counting.branches.branch_clicks import (
    FRANCE,
    GERMANY,
    NOON,
    click,
    clicks_of,
    count,
    identifier,
    unique_clicks,
    visitor,
)
from tests.analytics.counting.branches.branch_clicks import pk as pk
from tests.analytics.counting.branches.branch_clicks import routed as routed
from tests.analytics.reading import report


def at(seconds: float) -> str:
    return (NOON + timedelta(seconds=seconds)).isoformat()


def test_click_belongs_to_the_branch_that_had_the_number_at_its_time(routed: dict[str, Any], pk: int) -> None:
    second, third = branch(1, "Second"), branch(1, "Third")
    set_branches(routed["_id"], [second], since=at(10))
    set_branches(routed["_id"], since=at(20))
    set_branches(routed["_id"], [third], since=at(30))
    # Between 20 and 30, the number had no branch: a visitor of a stale cache was led by the second.
    count([click(pk, 1, seconds) for seconds in (0, 9.999999, 10, 19, 25, 30, 31)])
    assert clicks_of() == {identifier(GERMANY): 2, identifier(second): 3, identifier(third): 2}
    assert list(differences()) == []


def test_a_branch_with_another_url_or_name_stays_the_same(routed: dict[str, Any], pk: int) -> None:
    moved = {**GERMANY, "url": "https://example.org/", "href": "https://example.org/"}
    set_branches(routed["_id"], [moved], since=at(10))
    set_branches(routed["_id"], [{**moved, "name": "Renamed"}], since=at(20))
    count([click(pk, 1, seconds) for seconds in (0, 15, 25)])
    assert clicks_of() == {identifier(GERMANY): 3}


def test_click_of_a_host_whose_clock_is_behind_belongs_to_the_new_branch(
    routed: dict[str, Any], pk: int
) -> None:
    new = branch(9)
    set_branches(routed["_id"], [new], since=at(0))
    count([click(pk, 9, -1), click(pk, 9, -59)])
    assert clicks_of() == {identifier(new): 2}
    assert list(differences()) == []


def test_click_of_a_branch_that_the_database_does_not_have_is_counted_as_unknown(
    routed: dict[str, Any], pk: int
) -> None:
    """This happens after a restore from a dump that is older than the branch."""
    count([click(pk, 9)])
    assert clicks_of() == unique_clicks() == {"unknown": 1}
    assert list(Click.objects.values_list("branch", flat=True)) == [uuid.UUID(int=0)]
    set_branches(routed["_id"], [branch(9)], since=at(3600))
    assert list(differences()) == []


@pytest.mark.django_db(transaction=True)
def test_click_keeps_its_branch_if_it_is_counted_before_the_number_changes_hands(
    api: APIClient, routed: dict[str, Any], pk: int
) -> None:
    """The history says that the new branch began before the click, but nobody sees that until the commit."""
    successor = branch(1, "Successor")
    rules = [{**successor, "conditions": [{"type": "scanned", "values": [], "not": False}]}]
    begun, proceed = threading.Event(), threading.Event()

    def replace() -> None:
        try:
            with transaction.atomic():
                Link.objects.filter(pk=pk).update(rules=rules)
                begun.set()
                assert proceed.wait(120)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        replaced = pool.submit(replace)
        try:
            assert begun.wait(120)
            record_visit(visitor(), pk, 1)
            record_visit(visitor(), pk, 2)
            assert drain() == 2
        finally:
            proceed.set()
        replaced.result(120)
    clicked_at = Click.objects.earliest("time").time
    assert Route.objects.get(link_id=pk, number=1, until=None).since < clicked_at
    assert clicks_of() == {identifier(GERMANY): 1, identifier(FRANCE): 1}
    assert list(differences()) == []
    log = report(api, routed["_id"], "/clicks")["clicks"]
    assert [(item["branch"]["name"], item["location"]) for item in log] == [
        ("France", "https://example.com/2"),
        ("Germany", "https://example.com/1"),
    ]
    kathmandu = {"startDate": f"{clicked_at - timedelta(days=1):%F}", "timezone": "Asia/Kathmandu"}
    for query in ({}, kathmandu):
        branches = report(api, routed["_id"], **query)["branches"]
        assert {item["name"]: item["clicks"] for item in branches} == {
            "Successor": 0, "Germany": 1, "France": 1, "B": 0,
        }  # fmt: skip
