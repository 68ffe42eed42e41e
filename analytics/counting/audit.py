"""Compares counters and roll-ups with the clicks that they count, reports every difference, and rebuilds sums.

Each check compares two sources of the same figure. `repair` rebuilds the sums that other tables determine completely,
for `manage.py audit_counters --repair`.
"""

# built from constants

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper

from analytics.counting.closed_days import LOCK, OPEN_DAYS, confirmed_date, month_of
from analytics.counting.days import IMPORTED
from analytics.counting.segments import offset_of
from analytics.dimensions import COMPLETE, COUNTRY_OF_PLACE, DEFINITIONS, OF_BRANCHES, PARTIAL, UNKNOWN
from analytics.journal.pending import open_record
from analytics.journal.reader import DAMAGED_SUFFIX, segments
from analytics.journal.records import COUNTED, decode
from analytics.models import Dimension, JournalLoss, Kind


class Check(NamedTuple):
    """Two queries that must return the same ``n`` for the same keys. A missing row counts as 0.

    ``of_rollups``: also of the numbers that stand for roll-ups instead of links.
    """

    keys: tuple[str, ...]
    left_name: str
    left: str
    right_name: str
    right: str
    differ: str = "<>"
    of_rollups: bool = False


_DAY = "(date '1970-01-01' + minute / 1440)"
_DAYS = "SELECT link_id, day, sum({column}) AS n FROM analytics_daytotal GROUP BY 1, 2"
_QUARTERS = """
SELECT link_id, (start AT TIME ZONE 'UTC')::date AS day, sum({column}) AS n FROM analytics_quartertotal GROUP BY 1, 2
"""
_STORED_VALUES = ", ".join(
    f"({definition.dimension}, CASE WHEN {definition.is_stored} THEN {definition.value} END)"
    for definition in DEFINITIONS
)


def _numbers(dimensions: list[Dimension]) -> str:
    return ", ".join(str(int(dimension)) for dimension in dimensions)


# `analytics.counting.audit` rebuilds the left sides of these from the right ones.
OWNERS = Check(
    ("owner_id",),
    "owner's total", "SELECT owner_id, sum(clicks) AS n FROM links_ownertotals GROUP BY 1",
    "counters", "SELECT owner_id, sum(clicks) AS n FROM links_clickcounter GROUP BY 1",
)  # fmt: skip
LIFETIMES = Check(
    ("link_id", "dimension", "value"),
    "lifetime value", """
        SELECT link_id, dimension, value, sum(clicks) AS n FROM analytics_lifecount GROUP BY 1, 2, 3
    """,
    "closed days", """
        SELECT link_id, dimension, value, sum(clicks) AS n FROM analytics_daycount
        WHERE day <= (SELECT day FROM analytics_closedday) GROUP BY 1, 2, 3
    """,
    of_rollups=True,
)  # fmt: skip
MONTHS = Check(
    ("link_id", "month", "dimension", "value"),
    "value of the month", """
        SELECT link_id, month, dimension, value, sum(clicks) AS n FROM analytics_monthcount GROUP BY 1, 2, 3, 4
    """,
    "closed days", f"""
        SELECT link_id, month, dimension, value, sum(clicks) AS n
        FROM analytics_daycount JOIN analytics_busymonth USING (link_id)
        WHERE month = {month_of("day")} AND dimension <> {Dimension.OUTCOME}
        AND day <= (SELECT day FROM analytics_closedday) GROUP BY 1, 2, 3, 4
    """,
    of_rollups=True,
)  # fmt: skip
# Housekeeping deletes those of deleted workspaces and domains.
_ROLLED = """
JOIN analytics_rollup r ON r.is_complete AND r.id = -t.link_id AND (
    EXISTS (SELECT FROM accounts_workspace WHERE id = r.owner_id)
    OR EXISTS (SELECT FROM domains_domain WHERE id = r.domain_id)
)
"""
_OF_LINKS = (
    "JOIN analytics_rolledlink USING (link_id) JOIN analytics_rollup r ON r.is_complete AND r.id = rollup"
)
_ROLLED_COUNTS = """
(
    SELECT link_id, day, dimension, value, clicks FROM analytics_daycount WHERE link_id < 0
    UNION ALL
    SELECT link_id, day, u.dimension, u.value, u.clicks FROM analytics_rollupchange,
        unnest(ARRAY[counts, outcomes]) packed, analytics_unpacked(packed) u
) t
"""
# Reports of large workspaces and domains read these sums instead of the links' days.
ROLLUPS = [
    *(
        Check(
            ("rollup", "start"),
            f"{name} of the roll-up",
            f"""
            SELECT r.id AS rollup, start, sum({column}) AS n FROM analytics_rolledquarter t {_ROLLED} GROUP BY 1, 2
            """,
            "its links",
            f"""
            SELECT r.id AS rollup, start, sum({column}) AS n FROM analytics_quartertotal t {_OF_LINKS} GROUP BY 1, 2
            """,
        )
        for name, column in (("clicks", "t.clicks"), ("unique clicks", "t.unique_clicks"))
    ),
    Check(
        ("rollup", "day"),
        "day of the roll-up",
        f"SELECT r.id AS rollup, day, sum(t.clicks) AS n FROM analytics_rolledday t {_ROLLED} GROUP BY 1, 2",
        "its links",
        f"SELECT r.id AS rollup, day, sum(t.clicks) AS n FROM analytics_daytotal t {_OF_LINKS} GROUP BY 1, 2",
    ),
    Check(
        ("rollup", "day", "dimension", "value"),
        "value of the roll-up",
        f"""
        SELECT r.id AS rollup, day, dimension, value, sum(t.clicks) AS n FROM {_ROLLED_COUNTS} {_ROLLED}
        GROUP BY 1, 2, 3, 4
        """,
        "its links",
        f"""
        SELECT r.id AS rollup, day, dimension, value, sum(t.clicks) AS n FROM analytics_daycount t {_OF_LINKS}
        WHERE dimension NOT IN ({_numbers([definition.dimension for definition in OF_BRANCHES])}) GROUP BY 1, 2, 3, 4
        """,
    ),
    Check(
        ("rollup", "day", "link"),
        "its clicks in the roll-up",
        f"""
        SELECT r.id AS rollup, day, link, sum(clicks) AS n FROM (
            SELECT link_id, day, unnest(links) AS link, unnest(clicks) AS clicks FROM analytics_rolluplinks
            UNION ALL SELECT link_id, day, unnest(links), unnest(link_clicks) FROM analytics_rollupchange
        ) t {_ROLLED} GROUP BY 1, 2, 3
        """,
        "its day",
        f"""
        SELECT r.id AS rollup, day, t.link_id AS link, sum(t.clicks) AS n FROM analytics_daytotal t {_OF_LINKS}
        GROUP BY 1, 2, 3
        """,
    ),
]

CHECKS = [
    Check(
        ("link_id",),
        "counter", "SELECT link_id, clicks AS n FROM links_clickcounter",
        "days, claims and imports", f"""
            SELECT link_id, sum(clicks) AS n FROM (
                SELECT link_id, clicks FROM analytics_daytotal WHERE slot <> {IMPORTED}
                UNION ALL SELECT link_id, imported FROM links_clickcounter WHERE imported <> 0
                UNION ALL SELECT link_id, clicks FROM analytics_unreportedclicks
                UNION ALL SELECT * FROM unnest(%(claimed_links)s::bigint[], %(claimed)s::bigint[])
            ) one GROUP BY 1
        """,
    ),
    Check(
        # Clicks that were imported with their link have no day.
        ("link_id",),
        "imported clicks", "SELECT link_id, imported AS n FROM links_clickcounter WHERE imported <> 0",
        "imported days", f"""
            SELECT link_id, sum(clicks) AS n FROM analytics_daytotal WHERE slot = {IMPORTED} GROUP BY 1
        """,
        "<",
    ),
    OWNERS,
    Check(
        ("link_id", "day"),
        "day", _DAYS.format(column="clicks"),
        "quarters", _QUARTERS.format(column="clicks"),
    ),
    Check(
        ("link_id", "day"),
        "unique of the day", _DAYS.format(column="unique_clicks"),
        "unique of the quarters", _QUARTERS.format(column="unique_clicks"),
    ),
    Check(
        ("link_id", "day"),
        "day", f"""
            SELECT link_id, day, sum(clicks) AS n FROM analytics_daytotal
            WHERE day >= %(first)s AND slot <> {IMPORTED} GROUP BY 1, 2
        """,
        "clicks", f"""
            SELECT link_id, {_DAY} AS day, count(*) AS n FROM analytics_rawclick
            WHERE kind = {Kind.CLICK} AND {_DAY} >= %(first)s GROUP BY 1, 2
        """,
    ),
    Check(
        ("link_id", "day", "dimension"),
        "day", f"""
            SELECT link_id, day, dimension, sum(clicks) AS n
            FROM analytics_daytotal, unnest(ARRAY[{_numbers(COMPLETE)}]) dimension GROUP BY 1, 2, 3
        """,
        "values", f"""
            SELECT link_id, day, dimension, sum(clicks) AS n FROM analytics_daycount
            WHERE dimension IN ({_numbers(COMPLETE)}) GROUP BY 1, 2, 3
        """,
    ),
    Check(
        # Values that reports derive are not stored, nor clicks without a scan or a branch.
        ("link_id", "day", "dimension"),
        "day", f"""
            SELECT link_id, day, dimension, sum(clicks) AS n
            FROM analytics_daytotal, unnest(ARRAY[{_numbers(PARTIAL)}]) dimension GROUP BY 1, 2, 3
        """,
        "values", f"""
            SELECT link_id, day, dimension, sum(clicks) AS n FROM analytics_daycount
            WHERE dimension IN ({_numbers(PARTIAL)}) GROUP BY 1, 2, 3
        """,
        "<",
    ),
    Check(
        # The other clicks of the country have no known city.
        ("link_id", "day", "country"),
        "country", f"""
            SELECT link_id, day, {COUNTRY_OF_PLACE} AS country, sum(clicks) AS n FROM analytics_daycount
            WHERE dimension = {Dimension.COUNTRY} GROUP BY 1, 2, 3
        """,
        "its cities", f"""
            SELECT link_id, day, {COUNTRY_OF_PLACE} AS country, sum(clicks) AS n FROM analytics_daycount
            WHERE dimension = {Dimension.CITY} AND NOT starts_with(value, '{UNKNOWN} ') GROUP BY 1, 2, 3
        """,
        "<",
    ),
    Check(
        # The other unique clicks led to the links' own destinations.
        ("link_id", "day"),
        "unique of the day", _DAYS.format(column="unique_clicks"),
        "unique of the branches", f"""
            SELECT link_id, day, sum(clicks) AS n FROM analytics_daycount
            WHERE dimension = {Dimension.UNIQUE_BRANCH} GROUP BY 1, 2
        """,
        "<",
    ),
    Check(
        ("link_id", "day", "dimension", "value"),
        "value of the day", f"""
            SELECT link_id, day, dimension, value, sum(clicks) AS n FROM analytics_daycount
            WHERE day >= %(first)s AND slot <> {IMPORTED} GROUP BY 1, 2, 3, 4
        """,
        "clicks", f"""
            SELECT link_id, {_DAY} AS day, dimension, value COLLATE "C" AS value, count(*) AS n
            FROM analytics_click, LATERAL (VALUES {_STORED_VALUES}) counted (dimension, value)
            WHERE value IS NOT NULL AND {_DAY} >= %(first)s GROUP BY 1, 2, 3, 4
        """,
    ),
    LIFETIMES,
    MONTHS,
    *ROLLUPS,
]  # fmt: skip


def differences() -> Iterator[str]:
    """The caller's transaction must provide one consistent snapshot. Clicks of deleted links are not compared."""
    with connection.cursor() as cursor:
        values = checked_values(cursor)
        for check in CHECKS:
            cursor.execute(f"{differences_query(check)} ORDER BY {', '.join(check.keys)}", values)
            for *subject, left, right in cursor.fetchall():
                yield f"{describe(check, subject)}: {check.left_name} {left}, {check.right_name} {right}"


def losses() -> Iterator[str]:
    """Clicks missing from both a restored database and the journals, and damaged clicks. They are no differences."""
    for loss in JournalLoss.objects.filter(size__gt=0).order_by("segment_id"):
        last = "the last of them " if loss.size > loss.end - loss.start else ""
        yield (
            f"segment {loss.segment_id}: {loss.size} bytes of clicks are lost, {last}between byte {loss.start}"
            f" and {loss.end}"
        )


def damaged_segments(folder: Path) -> Iterator[str]:
    """The segments of this host that were set aside, and how much of them is not counted."""
    for segment in segments(folder, DAMAGED_SUFFIX):
        with segment.open() as file:
            if file is not None:
                offset = offset_of(segment.id)
                yield (
                    f"segment {segment.id}: damaged; {max(0, file.size - offset)} bytes from byte {offset} on are not"
                    f" counted. `manage.py drain_clicks --damaged` counts what is intact of {segment.path}"
                )


def checked_values(cursor: CursorWrapper) -> dict[str, Any]:
    """Return the parameters of the queries."""
    claimed = _claimed(cursor)
    return {
        "claimed_links": list(claimed),
        "claimed": list(claimed.values()),
        "first": _first_day(cursor),
    }


def differences_query(check: Check) -> str:
    """Return the query whose rows differ: the keys, and the two figures ``left`` and ``right``."""
    links = "SELECT link_id FROM links_clickcounter"
    if check.of_rollups:
        links += " UNION ALL SELECT -id FROM analytics_rollup WHERE is_complete"
    existing = f"AND link_id IN ({links})" if check.keys[0] == "link_id" else ""
    return f"""
    SELECT {", ".join(check.keys)}, coalesce(l.n, 0) AS "left", coalesce(r.n, 0) AS "right"
    FROM ({check.left}) l FULL JOIN ({check.right}) r USING ({", ".join(check.keys)})
    WHERE coalesce(l.n, 0) {check.differ} coalesce(r.n, 0) {existing}
    """  # built from constants


def describe(check: Check, subject: Sequence[Any]) -> str:
    """``subject``: the values of the check's keys."""
    return " ".join(_display_name(key, value) for key, value in zip(check.keys, subject, strict=True))


def _display_name(key: str, value: Any) -> str:
    match key:
        case "link_id" | "link":
            return f"link {value}"
        case "owner_id":
            return f"owner {value}"
        case "rollup":
            return f"roll-up {value}"
        case "dimension":
            return Dimension(value).label.lower()
    return str(value)


def _claimed(cursor: CursorWrapper) -> Counter[int]:
    """Pending claimed clicks by link: the counter includes them, the other tables do not yet."""
    cursor.execute("SELECT record FROM analytics_pendingrecord")
    records = [decode(open_record(content)) for (content,) in cursor.fetchall()]
    return Counter(record.subject for record in records if record.flags & COUNTED)


def _first_day(cursor: CursorWrapper) -> Any:
    """The first day of which all raw clicks are still stored."""
    if settings.CLICK_RETENTION_DAYS:
        cursor.execute("SELECT date '1970-01-01' + min(minute) / 1440 FROM analytics_rawclick")
        (oldest,) = cursor.fetchone() or (None,)
        if oldest is not None:
            return oldest + timedelta(days=1)
    return "-infinity"


_LIFETIME_ROWS = """
INSERT INTO analytics_lifecount (link_id, dimension, value, slot, clicks)
SELECT link_id, dimension, value, 0, sum(clicks)
FROM analytics_daycount JOIN differing USING (link_id, dimension, value)
WHERE day <= (SELECT day FROM analytics_closedday) GROUP BY 1, 2, 3
"""
_MONTH_ROWS = f"""
INSERT INTO analytics_monthcount (link_id, month, dimension, value, slot, clicks)
SELECT link_id, month, dimension, value, 0, sum(clicks)
FROM analytics_daycount JOIN differing USING (link_id, dimension, value)
JOIN analytics_busymonth USING (link_id, month)
WHERE month = {month_of("day")} AND day <= (SELECT day FROM analytics_closedday) GROUP BY 1, 2, 3, 4
"""
# The difference holds for one snapshot. Adding it stays right while others add to the same sums.
_ADD_TO_OWNERS = """
INSERT INTO links_ownertotals AS t (owner_id, slot, clicks, links, active_links)
SELECT owner_id, 0, "right" - "left", 0, 0 FROM differing
ON CONFLICT (owner_id, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""
# Housekeeping deletes and begins it again. Until then, reports read the days of the links.
_BEGIN_AGAIN = """
UPDATE analytics_rollup SET is_complete = false, begun_at = 'epoch' WHERE id IN (SELECT rollup FROM differing)
"""


def repair() -> Iterator[str]:
    """Rebuild the sums in the caller's transaction, and yield what was changed."""
    with connection.cursor() as cursor:
        # No day is closed, and no click of a closed day is counted until the transaction ends.
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        yield from _reopen_days(cursor)
        for check, table, rows in (
            (LIFETIMES, "analytics_lifecount", _LIFETIME_ROWS),
            (MONTHS, "analytics_monthcount", _MONTH_ROWS),
        ):
            yield from _find(cursor, check)
            keys = " AND ".join(f"t.{key} = differing.{key}" for key in check.keys)
            cursor.execute(f"DELETE FROM {table} t USING differing WHERE {keys}")
            cursor.execute(rows)
        yield from _find(cursor, OWNERS)
        cursor.execute(_ADD_TO_OWNERS)
        for check in ROLLUPS:
            yield from _find(cursor, check)
            cursor.execute(_BEGIN_AGAIN)


def _reopen_days(cursor: CursorWrapper) -> Iterator[str]:
    """Days that a wrong clock has closed too early cost each batch of clicks time until they are over."""
    cursor.execute("SELECT day FROM analytics_closedday")
    [(closed,)] = cursor.fetchall()
    last = confirmed_date() - timedelta(days=OPEN_DAYS)
    if closed > last:
        cursor.execute("UPDATE analytics_closedday SET day = %s", [last])
        yield f"closed days: up to {closed}, now up to {last}"


def _find(cursor: CursorWrapper, check: Check) -> Iterator[str]:
    """Put the differences of this check into the table ``differing``."""
    cursor.execute("DROP TABLE IF EXISTS differing")
    cursor.execute(
        f"CREATE TEMPORARY TABLE differing ON COMMIT DROP AS {differences_query(check)}",
        checked_values(cursor),
    )
    cursor.execute("SELECT * FROM differing ORDER BY 1, 2")
    for *subject, left, right in cursor.fetchall():
        yield f"{describe(check, subject)}: {check.left_name} {left}, now {right}"
