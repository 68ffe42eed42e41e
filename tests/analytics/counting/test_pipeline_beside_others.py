"""The pipeline beside other drainers, requests and deletions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.counting.pipeline import Drainer
from analytics.models import Click, DayCount, DayTotal, Kind, QuarterTotal, VisitorBlock
from links.models import OwnerTotals
from testing.analytics.clicks import close_journal, drain
from testing.analytics.journaled import MakeLink, journaled, pk
from testing.links.deletion import delete_finally
from tests.analytics.counting.counted import totals


def test_several_drainers_count_each_click_once(make_link: MakeLink, clicks_dir: Path) -> None:
    link = pk(make_link())
    drainers = [Drainer(clicks_dir) for _ in range(3)]
    taken = []
    for count in (5, 7, 0, 1):
        journaled(link, count=count)
        taken.append([drainer.drain_batch() for drainer in drainers])

    assert taken == [[5, 0, 0], [7, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert totals() == [(13, 1)]


def slots(link_id: int) -> dict[bool, int]:
    """An owner's click totals: those that requests write (False) and those that drainers write (True)."""
    totals = {False: 0, True: 0}
    for slot, clicks in OwnerTotals.objects.filter(owner__links=link_id).values_list("slot", "clicks"):
        totals[slot >= 8] += clicks
    return totals


def test_drainer_and_requests_write_separate_owner_totals(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    link, capped = make_link(), make_link(restrictions={"maxClicks": 9})
    for visited in (link, link, link, capped):
        visitor.get(f"/{visited['shortCode']}")
    drain()
    assert slots(pk(link)) == {False: 1, True: 3}
    assert api.get("/api/urls/stats").json()["totalClicks"] == 4

    # Deleting subtracts from the requests' slots, whatever their values: only the sum matters.
    api.delete(f"/api/urls/{link['_id']}")
    assert slots(pk(capped)) == {False: -2, True: 3}
    assert api.get("/api/urls/stats").json()["totalClicks"] == 1


def test_rows_of_a_concurrently_deleted_link_are_deleted(alice: NewAccount, make_link: MakeLink) -> None:
    link, other = make_link(), make_link()
    for visited in (link, other):
        journaled(pk(visited), count=3)
    journaled(pk(link), kind=Kind.HEAD)

    def delete_behind_the_counts(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        result = execute(sql, *rest)
        if sql.lstrip().startswith("INSERT INTO analytics_busydaycount"):
            delete_finally(alice.workspace, link["_id"])
        return result

    with connection.execute_wrapper(delete_behind_the_counts):
        drain()
    for table in (Click, DayTotal, QuarterTotal, DayCount, VisitorBlock):
        assert set(table.objects.values_list("link_id", flat=True)) == {pk(other)}


def test_drainer_locks_only_the_segments_of_its_batch(make_link: MakeLink, clicks_dir: Path) -> None:
    link = pk(make_link())
    for count in (5, 7):
        journaled(link, count=count)
        close_journal()
    locked: list[int] = []

    def look(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        result = execute(sql, *rest)
        if "FROM analytics_segment" in sql and "SKIP LOCKED" in sql:
            locked.append(len(rest[0][0]))
        return result

    drainer = Drainer(clicks_dir)
    drainer._limit = 5
    with connection.execute_wrapper(look):
        assert drainer.drain_batch() == 5
    assert locked == [1]
