"""Erases the visits of a link before a day (UTC) from the raw clicks and all roll-ups.

Old raw clicks are deleted first, in short transactions of their own, because a busy link has millions. The last
transaction deletes the rest and the roll-ups. It takes all slots of `analytics.counting.days`, so that no batch is
open: each is either complete, and erased, or begins afterwards. Clicks of erased days that arrive later are counted
like any others.
"""

from __future__ import annotations

from datetime import date
from time import monotonic
from typing import Any, NamedTuple

from django.db import connection

from analytics.counting.closed_days import LOCK as CLOSING_LOCK
from analytics.counting.closed_days import month_of
from analytics.counting.day_visitors import EPOCH
from analytics.counting.days import IMPORTED, take_all_slots
from analytics.counting.imported_days import LOCK as IMPORT_LOCK
from analytics.counting.rollups import add_unreported
from analytics.counting.summed_links import lock_changes, subtract_days
from analytics.models import Dimension
from common.errors import Unavailable

# So many rows take some tens of milliseconds.
CHUNK = 10_000
# A request takes no longer, so that its client gets an answer.
SECONDS = 20.0

_BOUNDARY = """
SELECT minute FROM analytics_rawclick WHERE link_id = %s AND minute < %s ORDER BY minute OFFSET %s LIMIT 1
"""
_DELETE_CLICKS = "DELETE FROM analytics_rawclick WHERE link_id = %s AND minute < %s"
_LOCK = "SELECT pg_advisory_xact_lock(%s)"
_LOCK_SHARED = "SELECT pg_advisory_xact_lock_shared(%s)"
_OTHER_REQUESTS = f"""
SELECT coalesce(sum(clicks), 0)::bigint FROM analytics_busydaycount
WHERE link_id = %(link)s AND day < %(before)s AND dimension = {Dimension.OUTCOME}
"""  # noqa: S608 # built from constants
# The new sum has one row, whatever slots the former one had.
_SUBTRACT_FROM_LIFE = """
WITH erased AS MATERIALIZED (
    SELECT dimension, value, sum(clicks) AS clicks FROM analytics_daycount
    WHERE link_id = %(link)s AND day < %(before)s AND day <= (SELECT day FROM analytics_closedday)
    GROUP BY dimension, value
), former AS (
    DELETE FROM analytics_lifecount t USING erased
    WHERE link_id = %(link)s AND t.dimension = erased.dimension AND t.value = erased.value
    RETURNING t.dimension, t.value, t.clicks, erased.clicks AS erased
)
INSERT INTO analytics_lifecount (link_id, dimension, value, slot, clicks)
SELECT %(link)s, dimension, value, 0, sum(clicks) - min(erased) FROM former
GROUP BY dimension, value HAVING sum(clicks) > min(erased)
"""
_MONTH = month_of("%(before)s")
# The month of which only the first days are erased.
_SUBTRACT_FROM_MONTH = f"""
WITH erased AS MATERIALIZED (
    SELECT dimension, value, sum(clicks) AS clicks FROM analytics_daycount
    WHERE link_id = %(link)s AND day >= {_MONTH} AND day < %(before)s
    AND day <= (SELECT day FROM analytics_closedday) GROUP BY dimension, value
), former AS (
    DELETE FROM analytics_monthcount t USING erased
    WHERE link_id = %(link)s AND month = {_MONTH} AND t.dimension = erased.dimension AND t.value = erased.value
    RETURNING t.dimension, t.value, t.clicks, erased.clicks AS erased
)
INSERT INTO analytics_monthcount (link_id, dimension, month, value, slot, clicks)
SELECT %(link)s, dimension, {_MONTH}, value, 0, sum(clicks) - min(erased) FROM former
GROUP BY dimension, value HAVING sum(clicks) > min(erased)
"""  # noqa: S608 # built from constants
_DELETE_MONTHS = [
    f"DELETE FROM {table} WHERE link_id = %(link)s AND month < {_MONTH}"  # noqa: S608 # built from constants
    for table in ("analytics_monthcount", "analytics_busymonth")
]
_DELETE_DAYS = [
    f"DELETE FROM {table} WHERE link_id = %(link)s AND day < %(before)s"  # noqa: S608 # built from constants
    for table in ("analytics_busydaycount", "analytics_visitorblock")
]
_DELETE_TOTALS = f"""
WITH deleted AS (
    DELETE FROM analytics_daytotal WHERE link_id = %(link)s AND day < %(before)s
    RETURNING day, slot, clicks, unique_clicks
)
SELECT count(DISTINCT day), coalesce(sum(clicks) FILTER (WHERE slot <> {IMPORTED}), 0)::bigint,
    coalesce(sum(clicks) FILTER (WHERE slot = {IMPORTED}), 0)::bigint, coalesce(sum(unique_clicks), 0)::bigint
FROM deleted
"""  # noqa: S608 # built from constants
_FORGET = "DELETE FROM analytics_unreportedclicks WHERE link_id = %s RETURNING clicks, imported"
_IMPORTED_LEFT = f"""
SELECT coalesce(sum(clicks), 0)::bigint FROM analytics_daytotal WHERE link_id = %s AND slot = {IMPORTED}
"""  # noqa: S608 # built from constants


class Erased(NamedTuple):
    """``clicks`` includes the ``imported`` ones. ``other_requests`` were refused or not counted."""

    days: int
    clicks: int
    imported: int
    unique_clicks: int
    other_requests: int


class Forgotten(NamedTuple):
    """Erased clicks that a counter still includes, and how many imported ones have a day that is not erased."""

    clicks: int
    imported: int
    imported_left: int


def erase_old_clicks(link_id: int, before: date) -> int:
    """Delete most of the raw clicks, outside a transaction, and return their number.

    Raises Unavailable if there are too many for one request: a repeated one continues.
    """
    deadline, deleted = monotonic() + SECONDS, 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(_BOUNDARY, [link_id, _minute(before), CHUNK])
            row = cursor.fetchone()
            if row is None:
                return deleted
            if monotonic() > deadline:
                raise Unavailable("There are many visits to erase. Repeat the request to erase the others.")
            cursor.execute(_DELETE_CLICKS, [link_id, row[0] + 1])
            deleted += cursor.rowcount


def erase_days(link_id: int, before: date) -> tuple[Erased, int]:
    """Delete the days with what is left of their raw clicks, in the caller's transaction, which has locked the link.

    Returns the number of these raw clicks, too. Then call `keep_in_counter` or `take_from_counter`.
    """
    values: dict[str, Any] = {"link": link_id, "before": before}
    lock_changes()
    with connection.cursor() as cursor:
        # In the order of imports and of batches.
        cursor.execute(_LOCK, [IMPORT_LOCK])
        take_all_slots()
        cursor.execute(_LOCK_SHARED, [CLOSING_LOCK])
        cursor.execute(_DELETE_CLICKS, [link_id, _minute(before)])
        raw_clicks = cursor.rowcount
        cursor.execute(_OTHER_REQUESTS, values)
        [other_requests] = cursor.fetchone()
        subtract_days(link_id, before)
        for statement in (_SUBTRACT_FROM_LIFE, _SUBTRACT_FROM_MONTH, *_DELETE_MONTHS, *_DELETE_DAYS):
            cursor.execute(statement, values)
        cursor.execute(_DELETE_TOTALS, values)
        days, own, imported, unique_clicks = cursor.fetchone()
    return Erased(days, own + imported, imported, unique_clicks, other_requests), raw_clicks


def keep_in_counter(link_id: int, erased: Erased) -> None:
    """Remember that the link's counter includes these clicks."""
    if erased.clicks:
        add_unreported({link_id: erased.clicks - erased.imported}, imported=erased.imported)


def take_from_counter(link_id: int, erased: Erased) -> Forgotten:
    """The clicks that the counter must lose, those of earlier erasures included."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, [link_id])
        clicks, imported = cursor.fetchone() or (0, 0)
        cursor.execute(_IMPORTED_LEFT, [link_id])
        [left] = cursor.fetchone()
    return Forgotten(clicks + erased.clicks - erased.imported, imported + erased.imported, left)


def _minute(day: date) -> int:
    """The number of the day's first minute."""
    return (day - EPOCH).days * 1440
