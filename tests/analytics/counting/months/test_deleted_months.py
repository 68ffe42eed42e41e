"""The months of a deleted link are deleted, whatever counts its clicks meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.services import NewAccount
from analytics.counting.closed_days import close_days
from analytics.counting.retention import delete_clicks_of_deleted_links
from analytics.models import BusyMonth, Click, DayCount, DayTotal, LifeCount, MonthCount, QuarterTotal
from links.models import DeletedLink
from links.storage.deletion import delete_locked_links
from testing.analytics.clicks import close_journal
from testing.analytics.facts import Fact, record
from testing.analytics.journaled import BRITISH, MakeLink, journaled, pk
from testing.connections import connect_elsewhere
from testing.links.deletion import delete_finally
from testing.polling import DEADLINE, eventually
from testing.threads import at_once
from tests.analytics.counting.months.busy_links import LATE, LATE_MONTH, busy_link, months, waiting
from tests.analytics.counting.open_batches import COUNTERS, batch_held_before

TABLES = (Click, DayTotal, QuarterTotal, DayCount, LifeCount, MonthCount, BusyMonth)


def tables_with(link: int) -> list[str]:
    return [table.__name__ for table in TABLES if table.objects.filter(link_id=link).exists()]


def delete_at_once(link: int) -> None:
    """Delete as after the days in which the link can be brought back."""
    with transaction.atomic():
        delete_locked_links([link])
        DeletedLink.objects.filter(link_id=link).delete()


def test_a_deleted_link_leaves_no_months(make_link: MakeLink, alice: NewAccount) -> None:
    link, other = make_link(), make_link()
    for stays in (link, other):
        record(stays["_id"], [Fact("2026-01-01T00:00Z")])
    delete_finally(alice.workspace, link["_id"])
    delete_clicks_of_deleted_links()
    for model in (BusyMonth, MonthCount):
        assert set(model.objects.values_list("link_id", flat=True)) == {pk(other)}


@pytest.mark.django_db(transaction=True)
def test_a_batch_of_late_clicks_that_ends_after_the_deletion_leaves_nothing(
    make_link: MakeLink, clicks_dir: Path
) -> None:
    other, link = pk(make_link()), busy_link(make_link)
    close_days(busy=3)
    assert months(link) == [LATE_MONTH]
    journaled(other, LATE)
    close_journal()
    # It occupies the first slot: the deletion would wait for new clicks in rows that exist.
    with batch_held_before(COUNTERS, clicks_dir, 1):
        journaled(link, LATE, address=BRITISH)
        close_journal()
        with batch_held_before(COUNTERS, clicks_dir, 1):
            delete_at_once(link)
            delete_clicks_of_deleted_links()
            assert tables_with(link) == []
    assert tables_with(link) == []


@pytest.mark.django_db(transaction=True)
def test_days_that_another_host_closes_during_the_deletion_leave_nothing(make_link: MakeLink) -> None:
    link = busy_link(make_link)
    delete_at_once(link)
    written, proceed = Event(), Event()

    def hold(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith("UPDATE analytics_closedday"):
            assert MonthCount.objects.filter(link_id=link).exists()
            written.set()
            assert proceed.wait(DEADLINE)
        return execute(sql, *rest)

    def close() -> None:
        with connection.execute_wrapper(hold):
            close_days(busy=3)

    def delete() -> None:
        assert written.wait(DEADLINE)
        delete_clicks_of_deleted_links()

    def release() -> None:
        eventually(waiting(observer, 1))
        assert "DayCount" not in tables_with(link)
        proceed.set()

    with connect_elsewhere() as observer:
        at_once([close, delete, release])
    assert tables_with(link) == []
