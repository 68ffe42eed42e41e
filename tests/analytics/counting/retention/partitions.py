"""Raw clicks and the partitions that contain them."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection

from analytics.models import Click


def click(moment: datetime) -> Click:
    text = dict.fromkeys(
        ("reason", "country", "city", "device", "browser", "operating_system", "referrer"), ""
    )
    return Click.objects.create(time=moment, link_id=1, kind=0, **text)


def partitions() -> dict[str, list[datetime]]:
    """The times of the clicks, by partition."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'analytics_click'::regclass"
        )
        times_by_partition = {name: [] for (name,) in cursor.fetchall()}
        for name in times_by_partition:
            cursor.execute(f"SELECT time FROM {name} ORDER BY time")
            times_by_partition[name] = [time for (time,) in cursor.fetchall()]
    return times_by_partition


def month(moment: datetime) -> str:
    return f"analytics_click_{moment:%Y_%m}"


def following(moment: datetime) -> datetime:
    return (moment.replace(day=1) + timedelta(days=31)).replace(day=1)
