"""Deletes expired data. The housekeeping of any number of hosts may run this concurrently."""

from __future__ import annotations

from django.db import connection

from analytics.counting.retention.partitions import drop_before

FINISHED_DAYS = 7
_TABLES = (
    "analytics_click", "analytics_daytotal", "analytics_quartertotal", "analytics_daycount", "analytics_lifecount",
    "analytics_monthcount", "analytics_busymonth",
)  # fmt: skip


def delete_old_clicks(days: int) -> None:
    """Keep raw clicks for at least ``days`` by the database's clock; 0 keeps them all. Roll-ups never expire."""
    if days:
        with connection.cursor() as cursor:
            cursor.execute("SELECT (now() AT TIME ZONE 'UTC')::date - %s::integer", [days])
            [(day,)] = cursor.fetchall()
        drop_before(day)


def delete_clicks_of_deleted_links() -> None:
    """Delete the clicks and roll-ups of deleted links. Nothing else reads or writes these rows any more."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT link_id FROM analytics_deletedlink")
        for (link_id,) in cursor.fetchall():
            for table in _TABLES:
                cursor.execute(f"DELETE FROM {table} WHERE link_id = %s", [link_id])  # noqa: S608 # constants
            cursor.execute("DELETE FROM analytics_deletedlink WHERE link_id = %s", [link_id])


def delete_finished_segments() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM analytics_segment WHERE finished_at < now() - %s * interval '1 day'", [FINISHED_DAYS]
        )
