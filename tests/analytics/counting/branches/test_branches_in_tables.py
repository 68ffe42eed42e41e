"""Unique clicks of branches; the audit, closed days and deletion."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from analytics.counting.audit import differences
from analytics.counting.closed_days import close_days
from analytics.counting.retention import delete_clicks_of_deleted_links
from analytics.journal.records import (
    OPTED_OUT,
)
from analytics.models import Click, DayCount, Dimension, LifeCount
from links.models import Link, Route
from testing.analytics.busy_days import unpack_days
from testing.links.deletion import delete_finally
from tests.analytics.counting.branches.branch_clicks import (
    FRANCE,
    GERMANY,
    NOON,
    SPLIT,
    click,
    clicks_of,
    count,
    identifier,
    unique_clicks,
)
from tests.analytics.counting.branches.branch_clicks import pk as pk
from tests.analytics.counting.branches.branch_clicks import routed as routed


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


def tamper(sql: str, link: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, [link])
        assert cursor.rowcount == 1


def test_audit_compares_branches_with_clicks(pk: int) -> None:
    count([click(pk, 1, 0), click(pk, 1, 1), click(pk, 2, 2, visitor=1)])
    unpack_days()
    germany = str(Route.objects.get(link_id=pk, number=1).branch)
    tamper(
        "UPDATE analytics_busydaycount SET clicks = 7"
        f" WHERE link_id = %s AND dimension = {Dimension.BRANCH} AND clicks = 2",
        pk,
    )
    tamper(
        "DELETE FROM analytics_rawclick WHERE link_id = %s AND is_unique"
        f" AND branch IN (SELECT number FROM analytics_clicktext WHERE text = '{germany}')",
        pk,
    )
    prefix = f"link {pk} {NOON.date()}"
    assert {line for line in differences() if "ranch" in line} == {
        f"{prefix} branch: day 3, values 8",
        f"{prefix} branch {germany}: value of the day 7, clicks 1",
        f"{prefix} unique branch {germany}: value of the day 1, clicks 0",
    }


def test_audit_finds_more_unique_clicks_of_branches_than_of_the_link(pk: int) -> None:
    count([click(pk, 1, 0), click(pk, 1, 1)])
    unpack_days()
    tamper(
        f"UPDATE analytics_busydaycount SET clicks = 2 WHERE link_id = %s AND dimension = {Dimension.UNIQUE_BRANCH}",
        pk,
    )
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
