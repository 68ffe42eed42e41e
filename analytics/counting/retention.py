"""The lifetime of stored clicks: the monthly partitions (UTC) of raw clicks, and the deletion of expired data.

Old clicks are deleted by dropping partitions, not row by row. Clicks of a month without a partition go to the default
partition. The housekeeping of any number of hosts may run all of this concurrently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta
from functools import partial

from django.db import connection

from analytics.counting.batch import OLDEST_DAYS
from analytics.counting.closed_days import confirmed_date, wait_for_closing_days
from analytics.counting.day_visitors import EPOCH
from analytics.models import WEEK_MINUTES, Dimension
from common.database import change_tables
from common.postgresql.partitions import attach_partition, drop_partition, partitions_of

MONTHS_AHEAD = 2
FIRST_MONTH = date(2020, 1, 1)
_TABLE = "analytics_rawclick"
_NAME = re.compile(rf"{_TABLE}_(\d{{4}})_(\d{{2}})")


def ensure_partitions() -> None:
    """Create partitions for this month (by the database's clock), the next ones, and the default partition's clicks.

    Any number of hosts may call this concurrently. Each month is a separate transaction, so that locks are brief.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT date_trunc('month', now() AT TIME ZONE 'UTC')::date")
        months = {month for (month,) in cursor.fetchall()}
    for _ in range(MONTHS_AHEAD):
        months.add(_next_month(max(months)))
    last = max(months)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT date_trunc('month', (date '1970-01-01' + minute / 1440)::timestamp)::date"
            " FROM analytics_rawclick_default"
        )
        # Other months can come from a host with a wrong clock.
        months.update(month for (month,) in cursor.fetchall() if FIRST_MONTH <= month <= last)
    for month in sorted(months):
        change_tables(partial(ensure_partition, month))


def drop_before(day: date) -> None:
    """Drop the months that end on or before ``day``, and delete older clicks from the default partition."""
    with connection.cursor() as cursor:
        # First, so that no report takes the remaining clicks for all of them.
        cursor.execute("UPDATE analytics_closedday SET raw_from = greatest(raw_from, %s)", [day])
    for name in partitions_of(_TABLE):
        match = _NAME.fullmatch(name)
        if match and _next_month(date(int(match[1]), int(match[2]), 1)) <= day:
            change_tables(partial(drop_partition, name))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM analytics_rawclick_default WHERE minute < %s", [_minute(day)])
        # No click of a month that ended before remains.
        cursor.execute(
            "DELETE FROM analytics_clicktext WHERE week < %s", [_minute(day.replace(day=1)) // WEEK_MINUTES]
        )


def ensure_partition(month: date) -> None:
    """Create the partition of the month that begins on this day, in the caller's transaction."""
    name = f"{_TABLE}_{month:%Y_%m}"
    attach_partition(_TABLE, "minute", name, _minute(month), _minute(_next_month(month)))


def _minute(day: date) -> int:
    """The number of the day's first minute."""
    return (day - EPOCH).days * 1440


def _next_month(month: date) -> date:
    return (month + timedelta(days=31)).replace(day=1)


FINISHED_DAYS = 7
_CLICKS_AND_DAYS = ("analytics_rawclick", "analytics_daytotal", "analytics_busydaycount")
_SUMS_OF_DAYS = (
    "analytics_lifecount",
    "analytics_monthcount",
    "analytics_busymonth",
    "analytics_unreportedclicks",
)


def delete_old_clicks(days: int) -> None:
    """Keep raw clicks for at least ``days`` by the clocks of all hosts; 0 keeps them all. Roll-ups never expire."""
    if days:
        drop_before(confirmed_date() - timedelta(days=days))


def delete_clicks_of_deleted_links() -> None:
    """Delete the clicks and roll-ups of deleted links. Nothing else reads these rows any more.

    Each statement is a transaction of its own: with the rows of several tables locked, it could deadlock with the
    batches that still write to them.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT link_id FROM analytics_deletedlink")
        for (link_id,) in cursor.fetchall():
            _delete(_CLICKS_AND_DAYS, link_id)
            # Another host may be adding these days to the sums.
            wait_for_closing_days()
            _delete((*_SUMS_OF_DAYS, "analytics_deletedlink"), link_id)


def _delete(tables: Iterable[str], link_id: int) -> None:
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"DELETE FROM {table} WHERE link_id = %s", [link_id])  # constants


def delete_finished_segments() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM analytics_segment WHERE finished_at < now() - %s * interval '1 day'", [FINISHED_DAYS]
        )


MAX_FORMER_URLS = 1_000

# Reports show the last name and URL of a deleted branch. Branches keep their number.
_HAS_LATER_ROW = """
EXISTS (
    SELECT FROM links_route later WHERE later.link_id = r.link_id AND later.number = r.number
    AND later.branch IS NOT DISTINCT FROM r.branch AND (later.since, later.id) > (r.since, r.id)
)
"""
# The clicks of a month are deleted together. A host may still deliver clicks that are OLDEST_DAYS old.
_UNUSED_BY_CLICKS = f"""
DELETE FROM links_route WHERE id IN (
    SELECT id FROM links_route r WHERE until < least(
        date_trunc('month', (now() AT TIME ZONE 'UTC')::date - %(days)s::integer) AT TIME ZONE 'UTC',
        now() - %(oldest)s * interval '1 day'
    ) AND {_HAS_LATER_ROW} FOR UPDATE SKIP LOCKED
)
"""  # composed of constants
_LINKS = "SELECT link_id FROM links_route WHERE until IS NOT NULL GROUP BY link_id HAVING count(*) > %(most)s"
_EXCESS = f"""
DELETE FROM links_route WHERE id IN (
    SELECT id FROM links_route r
    WHERE id = ANY(ARRAY(
        SELECT id FROM links_route WHERE link_id = %(link)s AND until IS NOT NULL
        ORDER BY until DESC, id DESC OFFSET %(most)s
    )) AND ({_HAS_LATER_ROW} OR (
        until < now() - %(oldest)s * interval '1 day'
        AND NOT EXISTS (
            SELECT FROM analytics_lifecount c
            WHERE c.link_id = r.link_id AND c.dimension = %(dimension)s AND c.value = r.branch::text
        )
        AND NOT EXISTS (
            SELECT FROM analytics_daycount c
            WHERE c.link_id = %(link)s AND c.dimension = %(dimension)s AND c.value = r.branch::text
        )
    )) FOR UPDATE SKIP LOCKED
)
"""  # composed of constants


def delete_former_routes(retention_days: int) -> None:
    """Delete former URLs that are older than the raw clicks, and all but the newest 1,000 of each link.

    The last row of a branch with clicks stays. ``retention_days`` is CLICK_RETENTION_DAYS; 0 keeps raw clicks.
    """
    oldest = OLDEST_DAYS + 1
    with connection.cursor() as cursor:
        if retention_days:
            cursor.execute(_UNUSED_BY_CLICKS, {"days": retention_days, "oldest": oldest})
        cursor.execute(_LINKS, {"most": MAX_FORMER_URLS})
        parameters = {"most": MAX_FORMER_URLS, "oldest": oldest, "dimension": int(Dimension.BRANCH)}
        for (link_id,) in cursor.fetchall():
            cursor.execute(_EXCESS, parameters | {"link": link_id})
