"""What is forgotten, and when. Called by the housekeeping, on any number of hosts at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.db import connection

from analytics.partitions import drop_before

FINISHED_DAYS = 7
_TABLES = (
    "analytics_click", "analytics_daytotal", "analytics_quartertotal", "analytics_daycount", "analytics_lifecount",
)  # fmt: skip


def forget_old_clicks(days: int) -> None:
    """Raw clicks are kept at least so many days, and their roll-ups for ever; 0: nothing is forgotten."""
    if days:
        drop_before(datetime.now(UTC).date() - timedelta(days=days))


def forget_deleted_links() -> None:
    """Deletes what is known of the clicks of links that are gone: nobody reads or writes it any more."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT link_id FROM analytics_deletedlink")
        for (link_id,) in cursor.fetchall():
            for table in _TABLES:
                cursor.execute(f"DELETE FROM {table} WHERE link_id = %s", [link_id])  # noqa: S608 # names of ours
            cursor.execute("DELETE FROM analytics_deletedlink WHERE link_id = %s", [link_id])


def forget_finished_segments() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM analytics_segment WHERE finished_at < now() - %s * interval '1 day'", [FINISHED_DAYS]
        )
