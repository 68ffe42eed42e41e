"""Adds clicks that another service counted by day to the roll-ups, in rows marked with the slot `IMPORTED`.

Nothing else is recorded about such a click: it is not unique, and its values are unknown. Its quarter of an hour is
the one at noon UTC, so that the reports of most time zones show it on its day.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from django.db import connection, transaction

from analytics.counting.closed_days import add_late_months, closed_day
from analytics.counting.day_visitors import EPOCH
from analytics.counting.days import IMPORTED
from analytics.counting.summed_links import add_imported, lock_changes
from analytics.dimensions import BEFORE_NUMBER, BETWEEN_COUNTS, OF_UNKNOWN_CLICKS, WITH_UNKNOWN
from links.clicks import existing_links
from links.storage.insert import raise_imported_clicks

LOCK = 5_823_144
# Days of which the file has more clicks than an earlier import.
_NEW = f"""
SELECT sent.link_id, sent.day, sent.clicks - coalesce(t.clicks, 0)
FROM unnest(%(links)s::bigint[], %(days)s::date[], %(clicks)s::bigint[]) sent (link_id, day, clicks)
LEFT JOIN analytics_daytotal t ON t.link_id = sent.link_id AND t.day = sent.day AND t.slot = {IMPORTED}
WHERE sent.clicks > coalesce(t.clicks, 0)
"""
_ADDED = "unnest(%(links)s::bigint[], %(days)s::date[], %(clicks)s::bigint[]) added (link_id, day, clicks)"
_VALUES = f"(VALUES {OF_UNKNOWN_CLICKS}) unknown (dimension, value)"
# Noon UTC.
_QUARTER = 48


def _counts(clicks: str) -> str:
    """SQL: the packed values of so many imported clicks."""
    entries = [
        f"'{definition.dimension:d}{definition.unknown}{BEFORE_NUMBER}' || {clicks}"
        for definition in WITH_UNKNOWN
    ]
    return f" || '{BETWEEN_COUNTS}' || ".join(entries)


_ADD_DAYS = f"""
INSERT INTO analytics_daytotal AS t (link_id, day, slot, quarter, clicks, unique_clicks, counts)
SELECT link_id, day, {IMPORTED}, {_QUARTER}, clicks, 0, {_counts("clicks")} FROM {_ADDED}
ON CONFLICT (link_id, day, slot) DO UPDATE
SET clicks = t.clicks + EXCLUDED.clicks, counts = {_counts("(t.clicks + EXCLUDED.clicks)")}
"""
_ADD_LIFETIME_VALUES = f"""
INSERT INTO analytics_lifecount AS t (link_id, dimension, slot, value, clicks)
SELECT link_id, dimension, {IMPORTED}, value, sum(clicks) FROM {_ADDED}, {_VALUES}
WHERE day <= %(closed)s GROUP BY link_id, dimension, value
ON CONFLICT (link_id, dimension, value, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""
_ADD_MONTH_VALUES = add_late_months(f"(SELECT * FROM {_ADDED}, {_VALUES}) counted", str(IMPORTED))
_TOTALS = f"""
SELECT link_id, sum(clicks)::bigint FROM analytics_daytotal WHERE link_id = ANY(%(links)s) AND slot = {IMPORTED}
GROUP BY link_id
"""

# Clicks of a link on a day.
Days = Mapping[tuple[int, date], int]


def new_clicks(days: Days) -> dict[tuple[int, date], int]:
    """Return the clicks that `add_days` would add."""
    with connection.cursor() as cursor:
        cursor.execute(_NEW, _parameters(days))
        return {(link_id, day): clicks for link_id, day, clicks in cursor.fetchall()}


def add_days(days: Days) -> int:
    """Let each day have at least so many imported clicks, and return the number of clicks added.

    Repeating an import therefore adds nothing. One transaction; concurrent imports wait for each other. Ignores links
    that have been deleted.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        lock_changes()
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        added = new_clicks(days)
        links = existing_links({link_id for link_id, _ in added}, keep=True)
        added = {(link_id, day): clicks for (link_id, day), clicks in added.items() if link_id in links}
        if not added:
            return 0
        closed = closed_day((min(day for _, day in added) - EPOCH).days)
        of_closed_days = () if closed is None else (_ADD_LIFETIME_VALUES, _ADD_MONTH_VALUES)
        parameters = _parameters(added) | {"closed": closed}
        for statement in (*of_closed_days, _ADD_DAYS):
            cursor.execute(statement, parameters)
        cursor.execute(_TOTALS, {"links": sorted(links)})
        raise_imported_clicks(dict(cursor.fetchall()))
        add_imported(parameters, _counts("sum(added.clicks)"), _QUARTER)
    return sum(added.values())


def _parameters(days: Days) -> dict[str, list[int] | list[date] | date | None]:
    return {
        "links": [link_id for link_id, _ in days],
        "days": [day for _, day in days],
        "clicks": list(days.values()),
    }
