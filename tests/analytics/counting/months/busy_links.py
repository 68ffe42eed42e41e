"""Links whose months are stored, and late clicks on them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from analytics.models import BusyMonth
from testing.analytics.clicks import close_journal, drain
from testing.analytics.journaled import MakeLink, journaled, pk

ADVISORY_WAITS = """
SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database
WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()
"""
# A time on a day that is not open any more.
LATE = datetime.now(UTC) - timedelta(days=6)
LATE_MONTH = LATE.date().replace(day=1)


def months(link: int) -> list[date]:
    return list(BusyMonth.objects.filter(link_id=link).order_by("month").values_list("month", flat=True))


def waiting(observer: Any, count: int) -> Callable[[], bool]:
    """Whether so many transactions wait for an advisory lock."""
    return lambda: observer.execute(ADVISORY_WAITS).fetchone() == (count,)


def busy_link(make_link: MakeLink) -> int:
    """A link with three clicks on a day that is not closed yet."""
    link = pk(make_link())
    journaled(link, LATE, count=3)
    close_journal()
    assert drain() == 3
    return link
