"""Raw clicks and the partitions that contain them."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection

from analytics.models import Click
from testing.analytics.raw_clicks import store_clicks


def click(moment: datetime) -> Click:
    text = dict.fromkeys(
        (
            "reason",
            "country",
            "city",
            "region",
            "device",
            "browser",
            "operating_system",
            "language",
            "referrer",
        ),
        "",
    )
    store_clicks([Click(time=moment, link_id=1, kind=0, scanned=False, is_unique=False, **text)])
    return Click.objects.latest("id")


def partitions() -> dict[str, list[datetime]]:
    """The times of the clicks, by partition."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'analytics_rawclick'::regclass"
        )
        times_by_partition = {name: [] for (name,) in cursor.fetchall()}
        for name in times_by_partition:
            cursor.execute(
                "SELECT 'epoch'::timestamptz + minute * interval '1 minute' + microsecond * interval '1 microsecond'"
                f" FROM {name} ORDER BY minute, microsecond"
            )
            times_by_partition[name] = [time for (time,) in cursor.fetchall()]
    return times_by_partition


def month(moment: datetime) -> str:
    return f"analytics_rawclick_{moment:%Y_%m}"


def following(moment: datetime) -> datetime:
    return (moment.replace(day=1) + timedelta(days=31)).replace(day=1)
