"""Deletes the old part of the history. The housekeeping of any number of hosts may run this concurrently."""

from __future__ import annotations

from django.db import connection

_BATCH = 10_000
# The oldest rows have the lowest ids, so no index on the time is needed. The two orders differ by at most the duration
# of a transaction; a later run deletes such a row. Skips rows that another host is deleting.
_DELETE = f"""
WITH oldest AS MATERIALIZED (
    SELECT id, changed_at FROM accounts_change ORDER BY id LIMIT {_BATCH} FOR UPDATE SKIP LOCKED
)
DELETE FROM accounts_change c USING oldest
WHERE c.id = oldest.id AND oldest.changed_at < now() - %(days)s * interval '1 day'
"""  # noqa: S608 # composed of constants


def delete_old_changes(days: int) -> int:
    """Keep changes for at least ``days`` by the database's clock; 0 keeps them all. Returns how many it deleted."""
    deleted = 0
    while days:
        with connection.cursor() as cursor:
            cursor.execute(_DELETE, {"days": days})
            deleted += cursor.rowcount
            if cursor.rowcount < _BATCH:
                break
    return deleted
