"""Days with a row for each value, as those with many values have."""

from __future__ import annotations

from django.db import connection


def unpack_days() -> None:
    """Store the values of all days as rows. The reports stay the same."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO analytics_busydaycount (link_id, dimension, slot, day, value, clicks)
            SELECT c.link_id, c.dimension, c.slot, c.day, c.value, sum(c.clicks)
            FROM analytics_daycount c JOIN analytics_daytotal t USING (link_id, day, slot)
            WHERE t.counts IS NOT NULL AND c.dimension <> 5 GROUP BY 1, 2, 3, 4, 5;
            UPDATE analytics_daytotal SET counts = NULL
            """
        )
