"""Bounds for the time of a record, by the database's clock: a host's clock can be wrong by any amount."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from analytics.journal.records import Record

# A journal may wait for an unavailable database, but not for longer than this: an older time is wrong.
OLDEST_DAYS = 30


def with_bounded_times(records: Sequence[Record]) -> list[Record]:
    """Replace times in the future, or more than 30 days in the past, with the current time."""
    if not records:
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
        [(now,)] = cursor.fetchall()
    oldest = now - OLDEST_DAYS * 86_400_000_000
    return [record if oldest <= record.time <= now else record._replace(time=now) for record in records]
