"""What happens on the whole service now: totals of today (UTC) for the operator, and the links followed last."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from django.db import connection

from analytics.models import Dimension
from common.database import fetch


class Today(NamedTuple):
    """``clicks`` includes neither ``refused`` nor ``not_counted`` (HEAD, prefetches, crawlers) requests."""

    clicks: int
    unique_clicks: int
    refused: int
    not_counted: int
    unknown_codes: int


class Waiting(NamedTuple):
    """``pending``: uncounted records in the database. ``dead_letters``: records for the operator to examine."""

    pending: int
    dead_letters: int


_DAY = "(now() AT TIME ZONE 'UTC')::date"
_TODAY = f"""
SELECT t.clicks, t.unique_clicks, o.refused, o.not_counted, u.hits FROM (
    SELECT coalesce(sum(clicks), 0)::bigint AS clicks, coalesce(sum(unique_clicks), 0)::bigint AS unique_clicks
    FROM analytics_daytotal WHERE day = {_DAY}
) t, (
    SELECT coalesce(sum(clicks) FILTER (WHERE starts_with(value, 'refused:')), 0)::bigint AS refused,
        coalesce(sum(clicks) FILTER (WHERE NOT starts_with(value, 'refused:')), 0)::bigint AS not_counted
    FROM analytics_busydaycount WHERE day = {_DAY} AND dimension = {Dimension.OUTCOME}
) o, (SELECT coalesce(sum(hits), 0)::bigint AS hits FROM analytics_unknowncode WHERE day = {_DAY}) u
"""  # noqa: S608 # built from constants
# Bounds the cost of counting; no operator needs a higher figure.
_LIMIT = 10_000
_WAITING = f"""
SELECT (SELECT count(*) FROM (SELECT FROM analytics_pendingrecord LIMIT {_LIMIT}) p),
    (SELECT count(*) FROM (SELECT FROM analytics_deadletter LIMIT {_LIMIT}) d)
"""  # noqa: S608 # built from constants


def today() -> Today:
    [row] = fetch(_TODAY)
    return Today(*row)


def waiting() -> Waiting:
    [row] = fetch(_WAITING)
    return Waiting(*row)


# The end of the raw clicks that is read, in pages of the database: about 64 MB, or half a million clicks.
PAGES = 8_192
_PARTITIONS = """
SELECT inhrelid::regclass::text, pg_relation_size(inhrelid) / current_setting('block_size')::bigint
FROM pg_inherits WHERE inhparent = 'analytics_rawclick'::regclass ORDER BY 1 DESC
"""
# Rows are stored in the order of their insertion: the last pages hold the last clicks. No index has this order.
_LAST_CLICKS = "SELECT link_id, count(*) FROM ONLY {table} WHERE ctid >= '({page},0)'::tid GROUP BY link_id"


def recently_followed(limit: int) -> list[int]:
    """Return ids of links, those with the most recent clicks first. Reads a bounded part of the clicks."""
    clicks, pages = Counter[int](), PAGES
    with connection.cursor() as cursor:
        cursor.execute(_PARTITIONS)
        for table, size in cursor.fetchall():
            if size and pages > 0:
                cursor.execute(_LAST_CLICKS.format(table=table, page=max(0, size - pages)))
                clicks.update(dict(cursor.fetchall()))
                pages -= size
    return [link_id for link_id, _ in clicks.most_common(limit)]
