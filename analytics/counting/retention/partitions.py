"""Monthly partitions (UTC) of the raw clicks. Old data is deleted by dropping partitions, not row by row.

Clicks of a month without a partition go to the default partition.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import partial

from django.db import Error, connection

from analytics.counting.tables.salts import EPOCH
from analytics.models import WEEK_MINUTES
from common.database import change_tables

MONTHS_AHEAD = 2
FIRST_MONTH = date(2020, 1, 1)
_NAME = re.compile(r"analytics_rawclick_(\d{4})_(\d{2})")
_LOCK = 5_823_140_978
_CHECK_VIOLATION = "23514"


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


def has_missed_partition(error: Error) -> bool:
    """Whether an INSERT waited while another session attached the partition for its rows. A retry uses it."""
    diagnostics = getattr(error.__cause__, "diag", None)
    return (
        diagnostics is not None
        and diagnostics.sqlstate == _CHECK_VIOLATION
        and diagnostics.table_name == "analytics_rawclick_default"
    )


def drop_before(day: date) -> None:
    """Drop the months that end on or before ``day``, and delete older clicks from the default partition."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'analytics_rawclick'::regclass"
        )
        for (name,) in cursor.fetchall():
            match = _NAME.fullmatch(name)
            if match and _next_month(date(int(match[1]), int(match[2]), 1)) <= day:
                change_tables(partial(_drop_table, match[0]))
        cursor.execute("DELETE FROM analytics_rawclick_default WHERE minute < %s", [_minute(day)])
        # No click of a month that ended before remains.
        cursor.execute(
            "DELETE FROM analytics_clicktext WHERE week < %s", [_minute(day.replace(day=1)) // WEEK_MINUTES]
        )


def _drop_table(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {name}")


def ensure_partition(month: date) -> None:
    """Create the partition of the month that begins on this day, in the caller's transaction."""
    name = f"analytics_rawclick_{month:%Y_%m}"
    bounds = {"start": _minute(month), "end": _minute(_next_month(month))}
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        cursor.execute("SELECT to_regclass(%s)", [name])
        if cursor.fetchone() != (None,):
            return
        # ATTACH PARTITION, unlike CREATE TABLE ... PARTITION OF, does not block concurrent reads and writes.
        cursor.execute(f"CREATE TABLE {name} (LIKE analytics_rawclick INCLUDING DEFAULTS)")
        cursor.execute("LOCK TABLE analytics_rawclick_default IN ACCESS EXCLUSIVE MODE")
        cursor.execute(
            f"""
            WITH moved AS (
                DELETE FROM analytics_rawclick_default WHERE minute >= %(start)s AND minute < %(end)s RETURNING *
            ) INSERT INTO {name} SELECT * FROM moved
            """,  # noqa: S608 # the name is generated above
            bounds,
        )
        cursor.execute(
            f"ALTER TABLE analytics_rawclick ATTACH PARTITION {name} FOR VALUES FROM (%(start)s) TO (%(end)s)",
            bounds,
        )


def _minute(day: date) -> int:
    """The number of the day's first minute."""
    return (day - EPOCH).days * 1440


def _next_month(month: date) -> date:
    return (month + timedelta(days=31)).replace(day=1)
