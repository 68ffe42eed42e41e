"""Clicks on the branches of a link: recorded with the branch's number, counted under its id."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from rest_framework.test import APIClient

from analytics.counting.audit import differences
from analytics.counting.retention.deletion import delete_clicks_of_deleted_links
from analytics.counting.tables.lifetime_counts import close_days
from analytics.journal.capture import record_claimed_click, record_visit
from analytics.journal.pending import add_pending, open_record
from analytics.journal.reader import segments
from analytics.journal.records import (
    OPTED_OUT,
    SCANNED,
    Origin,
    Record,
    decode,
    encode,
    frame_with_origin,
    read_frames,
)
from analytics.journal.writer import journal
from analytics.models import Click, DayCount, Dimension, Kind, LifeCount
from analytics.pipeline_models import PendingRecord
from analytics.visitors.visitor import Visitor
from links.models import Link, Route
from testing.analytics.branches import Branch, branch, set_branches
from testing.analytics.clicks import drain
from testing.links.deletion import delete_finally
from testing.visitors.agents import FIREFOX
from tests.analytics.reading import report

MakeLink = Callable[..., dict[str, Any]]
GERMANY, FRANCE, SPLIT = (branch(number, name) for number, name in enumerate(("Germany", "France", "B"), 1))
ADDRESSES = [f"8.8.8.{number}" for number in range(10)]
NOON = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=5)


@pytest.fixture
def routed(make_link: MakeLink) -> dict[str, Any]:
    link = make_link()
    set_branches(link["_id"], [GERMANY, FRANCE], [SPLIT])
    return link


@pytest.fixture
def pk(routed: dict[str, Any]) -> int:
    return Link.objects.get(public_id=routed["_id"]).pk


def click(link: int, number: int, seconds: float = 0, visitor: int = 0, **fields: Any) -> bytes:
    """The record of a visit so many seconds after noon."""
    microseconds = int((NOON + timedelta(seconds=seconds)).timestamp() * 1_000_000)
    record = Record(microseconds, link, Kind.CLICK, number << 4, ADDRESSES[visitor], "", FIREFOX, "")
    return encode(record._replace(**fields))


def count(clicks: Sequence[bytes]) -> None:
    for payload in clicks:
        journal().append(payload)
    assert drain() == len(clicks)


def clicks_of(dimension: Dimension = Dimension.BRANCH) -> dict[str, int]:
    """The clicks by the branch's ``_id``."""
    rows = DayCount.objects.filter(dimension=dimension).values_list("value", "clicks")
    totals: dict[str, int] = {}
    for value, clicks in rows:
        totals[value.replace("-", "")] = totals.get(value.replace("-", ""), 0) + clicks
    return totals


def unique_clicks() -> dict[str, int]:
    return clicks_of(Dimension.UNIQUE_BRANCH)


def identifier(entry: Branch) -> str:
    return str(entry["_id"])


def visitor(**fields: Any) -> Visitor:
    usual = {
        "address": ADDRESSES[0],
        "user_agent": FIREFOX,
        "referrer": "",
        "kind": "click",
        "opted_out": False,
    }
    return Visitor(**{**usual, **fields})


# Recording


@pytest.mark.django_db
@pytest.mark.parametrize("number", [0, 1, 15])
@pytest.mark.parametrize("flags", [0, OPTED_OUT | SCANNED])
def test_number_is_the_upper_half_of_the_flags(number: int, flags: int, clicks_dir: Any) -> None:
    record_visit(visitor(opted_out=bool(flags), scanned=bool(flags)), 7, number)
    [segment] = segments(clicks_dir)
    with segment.open() as file:
        assert file is not None
        [(payload, _)] = file.read(0, 1, has_writer=True).frames
    record = decode(payload)
    assert (record.branch, record.flags) == (number, number << 4 | flags)


def test_claimed_click_is_counted_on_its_branch(routed: dict[str, Any], pk: int) -> None:
    Link.objects.filter(pk=pk).update(max_clicks=5)
    record_claimed_click(visitor(), pk, is_shared=False, branch=2)
    [pending] = PendingRecord.objects.all()
    assert decode(open_record(pending.record)).branch == 2
    assert drain() == 1
    assert clicks_of() == unique_clicks() == {identifier(FRANCE): 1}
    assert list(differences()) == []


# Counting


def test_clicks_are_counted_by_branch(pk: int) -> None:
    kinds = [Kind.HEAD, Kind.PREFETCH, Kind.CRAWLER]
    count(
        [
            *(click(pk, number, second) for second, number in enumerate([0, 1, 1, 3, 2, 1])),
            *(click(pk, 1, 10, kind=kind) for kind in kinds),
            click(pk, 0, 11, kind=Kind.REFUSED, reason="country"),
        ]
    )
    assert clicks_of() == {identifier(GERMANY): 3, identifier(FRANCE): 1, identifier(SPLIT): 1}
    ids = [None, *(uuid.UUID(identifier(entry)) for entry in (GERMANY, FRANCE, SPLIT))]
    rows = Click.objects.order_by("time", "kind").values_list("kind", "branch")
    assert list(rows) == [
        *((Kind.CLICK, ids[number]) for number in [0, 1, 1, 3, 2, 1]),
        *((kind, ids[1]) for kind in kinds), (Kind.REFUSED, None),
    ]  # fmt: skip
    assert list(differences()) == []


def test_pending_records_keep_their_branch(pk: int) -> None:
    add_pending(click(pk, 2))
    assert drain() == 1
    assert clicks_of() == {identifier(FRANCE): 1}


def test_rewritten_record_keeps_its_branch() -> None:
    [rewritten] = read_frames(frame_with_origin(click(7, 15), Origin(uuid.uuid4(), 40)), 1)
    assert decode(rewritten.payload).branch == 15


def test_links_without_branches_have_no_values(make_link: MakeLink) -> None:
    plain = Link.objects.get(public_id=make_link()["_id"]).pk
    count([click(plain, 0)])
    assert clicks_of() == unique_clicks() == {}


def test_clicks_of_plain_and_routed_links_are_counted_in_one_batch(pk: int, make_link: MakeLink) -> None:
    plain = Link.objects.get(public_id=make_link()["_id"]).pk
    count([click(plain, 0), click(pk, 1), click(plain, 0), click(pk, 0)])
    assert clicks_of() == {identifier(GERMANY): 1}
    assert Click.objects.filter(link_id=plain).count() == Click.objects.filter(link_id=pk).count() == 2
    assert list(differences()) == []


# The branch of a number changes over time


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
    """As after a restore from a dump that is older than the branch."""
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


# Unique clicks


@pytest.mark.parametrize("in_one_batch", [True, False])
def test_unique_click_counts_on_the_branch_of_the_first_click(pk: int, in_one_batch: bool) -> None:
    day = 24 * 3600
    clicks = [
        click(pk, 1, 0, visitor=0), click(pk, 2, 1, visitor=0), click(pk, 1, 2, visitor=0),
        click(pk, 2, 3, visitor=1), click(pk, 2, 4, visitor=1),
        # The first click led to the link's own destination.
        click(pk, 0, 5, visitor=2), click(pk, 1, 6, visitor=2),
        click(pk, 3, day, visitor=0), click(pk, 1, day + 1, visitor=0),
        click(pk, 3, 7, visitor=3, flags=OPTED_OUT | 3 << 4),
    ]  # fmt: skip
    for part in [clicks] if in_one_batch else [[one] for one in clicks]:
        count(part)
    assert clicks_of() == {identifier(GERMANY): 4, identifier(FRANCE): 3, identifier(SPLIT): 2}
    assert unique_clicks() == {identifier(GERMANY): 1, identifier(FRANCE): 1, identifier(SPLIT): 1}
    assert Click.objects.filter(is_unique=True).count() == 3
    assert list(differences()) == []


def test_first_click_of_a_batch_that_is_out_of_order_is_the_earliest(pk: int) -> None:
    count([click(pk, 2, 5), click(pk, 1, 1), click(pk, 3, 3)])
    assert unique_clicks() == {identifier(GERMANY): 1}


def test_one_of_several_clicks_at_the_same_time_is_unique(pk: int) -> None:
    count([click(pk, 3), click(pk, 1), click(pk, 3)])
    assert unique_clicks() == {identifier(SPLIT): 1}
    assert list(differences()) == []


# The audit, closed days and deletion


def tamper(sql: str, link: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, [link])
        assert cursor.rowcount == 1


def test_audit_compares_branches_with_clicks(pk: int) -> None:
    count([click(pk, 1, 0), click(pk, 1, 1), click(pk, 2, 2, visitor=1)])
    germany = str(Route.objects.get(link_id=pk, number=1).branch)
    tamper("UPDATE analytics_daycount SET clicks = 7 WHERE link_id = %s AND dimension = 9 AND clicks = 2", pk)
    tamper(f"DELETE FROM analytics_click WHERE link_id = %s AND is_unique AND branch = '{germany}'", pk)
    prefix = f"link {pk} {NOON.date()}"
    assert {line for line in differences() if "ranch" in line} == {
        f"{prefix} branch: day 3, values 8",
        f"{prefix} branch {germany}: value of the day 7, clicks 1",
        f"{prefix} unique branch {germany}: value of the day 1, clicks 0",
    }


def test_audit_finds_more_unique_clicks_of_branches_than_of_the_link(pk: int) -> None:
    count([click(pk, 1, 0), click(pk, 1, 1)])
    tamper("UPDATE analytics_daycount SET clicks = 2 WHERE link_id = %s AND dimension = 10", pk)
    assert f"link {pk} {NOON.date()}: unique of the day 1, unique of the branches 2" in list(differences())


def test_closed_days_are_added_to_the_lifetime_counts(pk: int) -> None:
    count([click(pk, 1, 0), click(pk, 1, 1)])
    close_days()
    count([click(pk, 1, 2, visitor=1)])
    values = LifeCount.objects.filter(dimension__in=[Dimension.BRANCH, Dimension.UNIQUE_BRANCH])
    assert sorted(values.values_list("dimension", "clicks")) == [
        (Dimension.BRANCH, 3),
        (Dimension.UNIQUE_BRANCH, 2),
    ]
    assert list(differences()) == []


def test_deleted_links_leave_no_clicks_of_branches(routed: dict[str, Any], pk: int) -> None:
    count([click(pk, 1), click(pk, 0)])
    link = Link.objects.get(pk=pk)
    delete_finally(link.owner, routed["_id"])
    count([click(pk, 1)])
    delete_clicks_of_deleted_links()
    assert Click.objects.count() == DayCount.objects.count() == 0
