"""The months of busy links: which exist, and that each has the clicks of its closed days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.db import connection

from analytics.counting import closed_days
from analytics.counting.audit import differences
from analytics.counting.closed_days import close_days
from analytics.counting.imported_days import add_days
from analytics.journal.records import BRANCH_SHIFT
from analytics.models import BusyMonth, ClosedDay, DayCount, Dimension, Kind, MonthCount
from testing.analytics.clicks import close_journal, drain
from testing.analytics.facts import Fact, record
from testing.analytics.journaled import BRITISH, MakeLink, journaled, pk
from testing.connections import connect_elsewhere
from testing.polling import DEADLINE, eventually
from testing.threads import at_once
from tests.analytics.counting.months.busy_links import LATE, LATE_MONTH, busy_link, months, waiting
from tests.analytics.counting.open_batches import COUNTERS, batch_held_before, routed_link

Values = dict[tuple[int, date, str], int]
NEVER = 10**9


def stored(link: int) -> Values:
    values: Counter[tuple[int, date, str]] = Counter()
    for row in MonthCount.objects.filter(link_id=link):
        values[row.dimension, row.month, row.value] += row.clicks
    return dict(values)


def summed_days(link: int) -> Values:
    """What `stored` has to be: the closed days of the busy months."""
    busy, closed = months(link), ClosedDay.objects.get().day
    values: Counter[tuple[int, date, str]] = Counter()
    for row in DayCount.objects.filter(link_id=link, day__lte=closed).exclude(dimension=Dimension.OUTCOME):
        if row.day.replace(day=1) in busy:
            values[row.dimension, row.day.replace(day=1), row.value] += row.clicks
    return dict(values)


def ago(days: int) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


def last_closed_age() -> int:
    """About ten days, so that the first day that closes now has an earlier day of its month among the closed ones."""
    return next(age for age in (10, 11) if ago(age - 1).day != 1)


def test_only_months_with_many_clicks_are_stored(make_link: MakeLink) -> None:
    link, other = make_link(), make_link()
    facts = [
        Fact("2026-01-01T00:00Z", count=4),
        Fact("2026-01-31T23:59Z", "FR", count=6, referrer="https://example.net/"),
        Fact("2026-02-01T00:00Z", count=9),
        Fact("2026-02-02T00:00Z", kind=Kind.HEAD, count=5),
        Fact("2026-03-15T00:00Z", count=10),
        Fact("2026-03-15T00:00Z", kind=Kind.HEAD),
    ]
    record(link["_id"], facts, closed="1970-01-01")
    record(other["_id"], [Fact("2026-01-01T00:00Z", count=9)], closed="1970-01-01")
    for _ in range(2):
        close_days(busy=10)
        assert months(pk(link)) == [date(2026, 1, 1), date(2026, 3, 1)]
        assert stored(pk(link)) == summed_days(pk(link))
        assert stored(pk(link))[Dimension.COUNTRY, date(2026, 1, 1), "FR"] == 6
        assert {dimension for dimension, _, _ in stored(pk(link))} == {
            Dimension.COUNTRY,
            Dimension.CITY,
            Dimension.CLIENT,
            Dimension.REFERRER,
        }
        assert (months(pk(other)), stored(pk(other))) == ([], {})


def test_a_month_that_becomes_busy_gets_the_days_that_were_closed_before(make_link: MakeLink) -> None:
    link, age_closed = make_link(), last_closed_age()
    facts = [Fact(ago(age).isoformat(), visitor=str(age), count=2) for age in range(45)]
    record(link["_id"], facts, closed=ago(age_closed).date().isoformat())
    BusyMonth.objects.all().delete()
    MonthCount.objects.all().delete()
    close_days(busy=1)
    # Earlier months have no day that closes now.
    assert months(pk(link)) == sorted({ago(age).date().replace(day=1) for age in range(3, age_closed)})
    assert stored(pk(link)) == summed_days(pk(link))
    becoming_busy = ago(age_closed).date().replace(day=1)
    # With the closed days before it, which are more than those that close now.
    closing = [age for age in range(3, age_closed) if ago(age).date().replace(day=1) == becoming_busy]
    assert stored(pk(link))[Dimension.COUNTRY, becoming_busy, "DE"] > 2 * len(closing) > 0


def test_a_busy_month_gets_the_days_that_close(make_link: MakeLink) -> None:
    link = make_link()
    facts = [Fact(ago(age).isoformat(), visitor=str(age), count=2) for age in range(45)]
    record(link["_id"], facts, closed=ago(last_closed_age()).date().isoformat())
    before, known = stored(pk(link)), months(pk(link))
    for _ in range(2):
        close_days(busy=NEVER)
        assert stored(pk(link)) == summed_days(pk(link)) != before
        assert months(pk(link)) == known


@pytest.mark.parametrize("number", [0, 1])
def test_late_clicks_are_added_to_busy_months_only(make_link: MakeLink, number: int) -> None:
    link, quiet = routed_link(make_link), routed_link(make_link)
    journaled(link, LATE, count=3)
    journaled(quiet, LATE)
    drain()
    close_days(busy=3)
    assert (months(link), months(quiet)) == ([LATE_MONTH], [])
    before = stored(link)
    for late in (link, quiet):
        for moment in (ago(0), ago(2), LATE, ago(29)):
            journaled(late, moment, address=BRITISH, flags=number << BRANCH_SHIFT)
        journaled(late, LATE, kind=Kind.HEAD)
    drain()
    assert stored(link) == summed_days(link) != before
    assert stored(quiet) == {}
    assert list(differences()) == []


def test_clicks_that_are_imported_later_are_added_to_busy_months_only(make_link: MakeLink) -> None:
    link = pk(make_link())
    month, quiet_month = date(2026, 1, 1), date(2026, 2, 1)
    add_days({(link, month): 3, (link, quiet_month): 2})
    close_days(busy=3)
    assert months(link) == [month]
    add_days({(link, date(2026, 1, 31)): 5, (link, quiet_month): 7, (link, datetime.now(UTC).date()): 1})
    assert stored(link) == summed_days(link)
    assert stored(link)[Dimension.REFERRER, month, "unknown"] == 8
    assert list(differences()) == []


# Concurrently


@pytest.mark.django_db(transaction=True)
def test_two_hosts_that_close_days_at_once_close_each_once(make_link: MakeLink) -> None:
    link = busy_link(make_link)

    def release() -> None:
        eventually(waiting(observer, 2))
        observer.execute("SELECT pg_advisory_unlock(%s)", [closed_days.LOCK])

    def close() -> None:
        close_days(busy=1)

    with connect_elsewhere() as observer:
        observer.execute("SELECT pg_advisory_lock(%s)", [closed_days.LOCK])
        at_once([close, close, release])
    assert stored(link) == summed_days(link)
    assert stored(link)[Dimension.COUNTRY, LATE_MONTH, "US"] == 3
    assert list(differences()) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_interrupted", [False, True])
def test_a_late_batch_waits_while_a_month_closes(make_link: MakeLink, is_interrupted: bool) -> None:
    link = busy_link(make_link)
    journaled(link, LATE, address=BRITISH)
    close_journal()
    written, proceed = Event(), Event()

    def hold(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith("UPDATE analytics_closedday"):
            written.set()
            assert proceed.wait(DEADLINE)
            if is_interrupted:
                raise InterruptedError
        return execute(sql, *rest)

    def close() -> None:
        with connection.execute_wrapper(hold):
            if is_interrupted:
                with pytest.raises(InterruptedError):
                    close_days(busy=1)
            else:
                close_days(busy=1)

    def count_late_click() -> None:
        assert written.wait(DEADLINE)
        assert drain() == 1

    def release() -> None:
        eventually(waiting(observer, 1))
        proceed.set()

    with connect_elsewhere() as observer:
        at_once([close, count_late_click, release])
    assert len(months(link)) == (0 if is_interrupted else 1)
    close_days(busy=1)
    assert stored(link) == summed_days(link)
    assert stored(link)[Dimension.COUNTRY, LATE_MONTH, "GB"] == 1
    assert list(differences()) == []


@pytest.mark.django_db(transaction=True)
def test_a_month_closes_after_the_late_batches_that_began_before(
    make_link: MakeLink, clicks_dir: Path
) -> None:
    link = busy_link(make_link)
    journaled(link, LATE, address=BRITISH)
    close_journal()

    def count_late_click() -> None:
        with connect_elsewhere() as observer, batch_held_before(COUNTERS, clicks_dir, 1):
            held.set()
            eventually(waiting(observer, 1))

    def close() -> None:
        assert held.wait(DEADLINE)
        close_days(busy=4)

    held = Event()
    at_once([count_late_click, close])
    assert stored(link) == summed_days(link)
    assert stored(link)[Dimension.COUNTRY, LATE_MONTH, "GB"] == 1
    assert list(differences()) == []
