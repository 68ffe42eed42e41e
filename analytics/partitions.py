"""Raw clicks lie in a table for each month (UTC): the old ones are dropped, not deleted row by row.

What comes for a month that has no table yet waits in the default partition.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from django.db import connection, transaction

AHEAD = 2
FIRST_MONTH = date(2020, 1, 1)
_NAME = re.compile(r"analytics_click_(\d{4})_(\d{2})")
_LOCK = 5_823_140_978


def ensure_partitions() -> None:
    """Makes those of this month, the next ones, and of what waits in the default partition.

    Any number of hosts may do so at once. A month at a time, so that nobody waits long.
    """
    current = datetime.now(UTC).date().replace(day=1)
    months = {current}
    for _ in range(AHEAD):
        months.add(_next(max(months)))
    last = max(months)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT date_trunc('month', time AT TIME ZONE 'UTC')::date FROM analytics_click_default"
        )
        # Not for those whose clocks are beyond reason.
        months.update(month for (month,) in cursor.fetchall() if FIRST_MONTH <= month <= last)
    for month in sorted(months):
        _ensure(month)


def drop_before(day: date) -> None:
    """Drops the months that were over on this day, and deletes what is as old in the default partition."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'analytics_click'::regclass"
        )
        for (name,) in cursor.fetchall():
            found = _NAME.fullmatch(name)
            if found and _next(date(int(found[1]), int(found[2]), 1)) <= day:
                cursor.execute(f"DROP TABLE IF EXISTS {found[0]}")
        cursor.execute(
            "DELETE FROM analytics_click_default WHERE time < %s::date::timestamp AT TIME ZONE 'UTC'", [day]
        )


def _ensure(month: date) -> None:
    name = f"analytics_click_{month:%Y_%m}"
    bounds = {"start": f"{month}T00:00:00Z", "end": f"{_next(month)}T00:00:00Z"}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        cursor.execute("SELECT to_regclass(%s)", [name])
        if cursor.fetchone() != (None,):
            return
        # Attaching, unlike making it a partition at once, lets others go on reading and writing.
        cursor.execute(f"CREATE TABLE {name} (LIKE analytics_click INCLUDING DEFAULTS)")
        cursor.execute("LOCK TABLE analytics_click_default IN ACCESS EXCLUSIVE MODE")
        cursor.execute(
            f"""
            WITH moved AS (
                DELETE FROM analytics_click_default WHERE time >= %(start)s AND time < %(end)s RETURNING *
            ) INSERT INTO {name} SELECT * FROM moved
            """,  # noqa: S608 # a name of ours
            bounds,
        )
        cursor.execute(
            f"ALTER TABLE analytics_click ATTACH PARTITION {name} FOR VALUES FROM (%(start)s) TO (%(end)s)",
            bounds,
        )


def _next(month: date) -> date:
    return (month + timedelta(days=31)).replace(day=1)
