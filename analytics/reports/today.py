"""Totals of today (UTC) over all links, for the operator."""

from __future__ import annotations

from typing import NamedTuple

from django.db import connection

from analytics.models import Dimension


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
    with connection.cursor() as cursor:
        cursor.execute(_TODAY)
        [row] = cursor.fetchall()
    return Today(*row)


def waiting() -> Waiting:
    with connection.cursor() as cursor:
        cursor.execute(_WAITING)
        [row] = cursor.fetchall()
    return Waiting(*row)
