"""Deletes expired data. The housekeeping of any number of hosts may run this concurrently."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.db import connection

from analytics.counting.host_clocks import confirmed_date
from analytics.counting.retention.partitions import drop_before
from analytics.counting.tables.lifetime_counts import wait_for_closing_days

FINISHED_DAYS = 7
_CLICKS_AND_DAYS = ("analytics_rawclick", "analytics_daytotal", "analytics_busydaycount")
_SUMS_OF_DAYS = ("analytics_lifecount", "analytics_monthcount", "analytics_busymonth")


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
            cursor.execute(f"DELETE FROM {table} WHERE link_id = %s", [link_id])  # noqa: S608 # constants


def delete_finished_segments() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM analytics_segment WHERE finished_at < now() - %s * interval '1 day'", [FINISHED_DAYS]
        )
