"""The queries of the audit: each check compares two sources of the same figure."""

from __future__ import annotations

from typing import NamedTuple

from analytics.counting.tables.month_counts import month_of
from analytics.counting.tables.slots import IMPORTED
from analytics.dimensions import COMPLETE, COUNTRY_OF_CITY, DEFINITIONS, PARTIAL, UNKNOWN
from analytics.models import Dimension, Kind


class Check(NamedTuple):
    """Two queries that must return the same ``n`` for the same keys. A missing row counts as 0."""

    keys: tuple[str, ...]
    left_name: str
    left: str
    right_name: str
    right: str
    differ: str = "<>"


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


# `analytics.counting.repair` rebuilds the left sides of these from the right ones.
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
)  # fmt: skip

CHECKS = [
    Check(
        ("link_id",),
        "counter", "SELECT link_id, clicks AS n FROM links_clickcounter",
        "days, claims and imports", f"""
            SELECT link_id, sum(clicks) AS n FROM (
                SELECT link_id, clicks FROM analytics_daytotal WHERE slot <> {IMPORTED}
                UNION ALL SELECT link_id, imported FROM links_clickcounter WHERE imported <> 0
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
            SELECT link_id, day, value AS country, sum(clicks) AS n FROM analytics_daycount
            WHERE dimension = {Dimension.COUNTRY} GROUP BY 1, 2, 3
        """,
        "its cities", f"""
            SELECT link_id, day, {COUNTRY_OF_CITY} AS country, sum(clicks) AS n FROM analytics_daycount
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
]  # fmt: skip
