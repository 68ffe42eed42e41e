"""Rebuilds the sums that other tables determine completely, for `manage.py audit_counters --repair`."""

# ruff: noqa: S608 # built from constants

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db import connection
from django.db.backends.utils import CursorWrapper

from analytics.counting.audit import checked_values, describe, differences_query
from analytics.counting.audit_checks import LIFETIMES, MONTHS, OWNERS, Check
from analytics.counting.host_clocks import confirmed_date
from analytics.counting.tables.lifetime_counts import LOCK, OPEN_DAYS
from analytics.counting.tables.month_counts import month_of

_LIFETIME_ROWS = """
INSERT INTO analytics_lifecount (link_id, dimension, value, slot, clicks)
SELECT link_id, dimension, value, 0, sum(clicks)
FROM analytics_daycount JOIN differing USING (link_id, dimension, value)
WHERE day <= (SELECT day FROM analytics_closedday) GROUP BY 1, 2, 3
"""
_MONTH_ROWS = f"""
INSERT INTO analytics_monthcount (link_id, month, dimension, value, slot, clicks)
SELECT link_id, month, dimension, value, 0, sum(clicks)
FROM analytics_daycount JOIN differing USING (link_id, dimension, value)
JOIN analytics_busymonth USING (link_id, month)
WHERE month = {month_of("day")} AND day <= (SELECT day FROM analytics_closedday) GROUP BY 1, 2, 3, 4
"""
# The difference holds for one snapshot. Adding it stays right while others add to the same sums.
_ADD_TO_OWNERS = """
INSERT INTO links_ownertotals AS t (owner_id, slot, clicks, links, active_links)
SELECT owner_id, 0, "right" - "left", 0, 0 FROM differing
ON CONFLICT (owner_id, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""


def repair() -> Iterator[str]:
    """Rebuild the sums in the caller's transaction, and yield what was changed."""
    with connection.cursor() as cursor:
        # No day is closed, and no click of a closed day is counted until the transaction ends.
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        yield from _reopen_days(cursor)
        for check, table, rows in (
            (LIFETIMES, "analytics_lifecount", _LIFETIME_ROWS),
            (MONTHS, "analytics_monthcount", _MONTH_ROWS),
        ):
            yield from _find(cursor, check)
            keys = " AND ".join(f"t.{key} = differing.{key}" for key in check.keys)
            cursor.execute(f"DELETE FROM {table} t USING differing WHERE {keys}")
            cursor.execute(rows)
        yield from _find(cursor, OWNERS)
        cursor.execute(_ADD_TO_OWNERS)


def _reopen_days(cursor: CursorWrapper) -> Iterator[str]:
    """Days that a wrong clock has closed too early cost each batch of clicks time until they are over."""
    cursor.execute("SELECT day FROM analytics_closedday")
    [(closed,)] = cursor.fetchall()
    last = confirmed_date() - timedelta(days=OPEN_DAYS)
    if closed > last:
        cursor.execute("UPDATE analytics_closedday SET day = %s", [last])
        yield f"closed days: up to {closed}, now up to {last}"


def _find(cursor: CursorWrapper, check: Check) -> Iterator[str]:
    """Put the differences of this check into the table ``differing``."""
    cursor.execute("DROP TABLE IF EXISTS differing")
    cursor.execute(
        f"CREATE TEMPORARY TABLE differing ON COMMIT DROP AS {differences_query(check)}",
        checked_values(cursor),
    )
    cursor.execute("SELECT * FROM differing ORDER BY 1, 2")
    for *subject, left, right in cursor.fetchall():
        yield f"{describe(check, subject)}: {check.left_name} {left}, now {right}"
