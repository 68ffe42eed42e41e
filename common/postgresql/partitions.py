"""Partitions by ranges of time, which are dropped at once instead of row by row.

Rows outside any partition are in the default partition ``<table>_default``. Any number of hosts may call this at the
same time. Call `change_tables` of `common.database` around it: locks are brief, but others may hold some for hours.
"""

from __future__ import annotations

from typing import Any

from django.db import Error, connection

_LOCK = 5_823_140_978
_CHECK_VIOLATION = "23514"


def partitions_of(table: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", [table]
        )
        return [name for (name,) in cursor.fetchall()]


def attach_partition(table: str, column: str, name: str, start: Any, end: Any) -> None:
    """Create this partition with the rows of the default one, in the caller's transaction. Names are constants."""
    bounds = {"start": start, "end": end}
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        cursor.execute("SELECT to_regclass(%s)", [name])
        if cursor.fetchone() != (None,):
            return
        # ATTACH PARTITION, unlike CREATE TABLE ... PARTITION OF, does not block concurrent reads and writes.
        cursor.execute(f"CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS)")
        cursor.execute(f"LOCK TABLE {table}_default IN ACCESS EXCLUSIVE MODE")
        cursor.execute(
            f"""
            WITH moved AS (
                DELETE FROM {table}_default WHERE {column} >= %(start)s AND {column} < %(end)s RETURNING *
            ) INSERT INTO {name} SELECT * FROM moved
            """,  # noqa: S608 # constants
            bounds,
        )
        cursor.execute(
            f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM (%(start)s) TO (%(end)s)", bounds
        )


def drop_partition(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {name}")


def has_missed_partition(error: Error) -> bool:
    """Whether an INSERT waited while another session attached the partition for its rows. A retry uses it."""
    diagnostics = getattr(error.__cause__, "diag", None)
    return (
        diagnostics is not None
        and diagnostics.sqlstate == _CHECK_VIOLATION
        and (diagnostics.table_name or "").endswith("_default")
    )
