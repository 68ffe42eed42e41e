"""What must agree with what: the queries of the audit."""

from __future__ import annotations

from typing import NamedTuple

from analytics.models import Dimension, Kind


class Check(NamedTuple):
    """Two queries that must give the same ``n`` for the same keys; what one of them lacks is 0 there."""

    keys: tuple[str, ...]
    left_name: str
    left: str
    right_name: str
    right: str
    differ: str = "<>"


_CLICK_COUNTS = (
    Dimension.COUNTRY, Dimension.DEVICE, Dimension.BROWSER, Dimension.OPERATING_SYSTEM, Dimension.REFERRER
)  # fmt: skip
DAY = "(time AT TIME ZONE 'UTC')::date"
_QUARTERS = """
SELECT link_id, (start AT TIME ZONE 'UTC')::date AS day, sum({column}) AS n FROM analytics_quartertotal GROUP BY 1, 2
"""
# A raw click does not tell a direct visit from one whose referrer could not be read.
_NO_HOST = "direct or unknown"

# Put together from constants, hence S608.
CHECKS = [
    Check(
        ("link_id",),
        "counter", "SELECT link_id, clicks AS n FROM links_clickcounter",
        "days, claims and imports", """
            SELECT link_id, sum(clicks) AS n FROM (
                SELECT link_id, clicks FROM analytics_daytotal
                UNION ALL SELECT link_id, imported FROM links_clickcounter WHERE imported <> 0
                UNION ALL SELECT * FROM unnest(%(claimed_links)s::bigint[], %(claimed)s::bigint[])
            ) one GROUP BY 1
        """,
    ),
    Check(
        ("owner_id",),
        "owner's total", "SELECT owner_id, sum(clicks) AS n FROM links_ownertotals GROUP BY 1",
        "counters", "SELECT owner_id, sum(clicks) AS n FROM links_clickcounter GROUP BY 1",
    ),
    Check(
        ("link_id", "day"),
        "day", "SELECT link_id, day, clicks AS n FROM analytics_daytotal",
        "quarters", _QUARTERS.format(column="clicks"),
    ),
    Check(
        ("link_id", "day"),
        "unique of the day", "SELECT link_id, day, unique_clicks AS n FROM analytics_daytotal",
        "unique of the quarters", _QUARTERS.format(column="unique_clicks"),
    ),
    Check(
        ("link_id", "day"),
        "day", "SELECT link_id, day, clicks AS n FROM analytics_daytotal WHERE day >= %(first)s",
        "clicks", f"""
            SELECT link_id, {DAY} AS day, count(*) AS n FROM analytics_click
            WHERE kind = {Kind.CLICK} AND {DAY} >= %(first)s GROUP BY 1, 2
        """,  # noqa: S608
    ),
    Check(
        ("link_id", "day", "dimension"),
        "day", f"""
            SELECT link_id, day, dimension, clicks AS n
            FROM analytics_daytotal, unnest(ARRAY{[int(each) for each in _CLICK_COUNTS]}) dimension
        """,  # noqa: S608
        "values", f"""
            SELECT link_id, day, dimension, sum(clicks) AS n FROM analytics_daycount
            WHERE dimension IN {tuple(int(each) for each in _CLICK_COUNTS)} GROUP BY 1, 2, 3
        """,  # noqa: S608
    ),
    Check(
        # Neither unknown cities nor clicks that are no scans are stored.
        ("link_id", "day", "dimension"),
        "day", f"""
            SELECT link_id, day, dimension, clicks AS n
            FROM analytics_daytotal, unnest(ARRAY[{Dimension.CITY}, {Dimension.SOURCE}]) dimension
        """,  # noqa: S608
        "values", f"""
            SELECT link_id, day, dimension, sum(clicks) AS n FROM analytics_daycount
            WHERE dimension IN ({Dimension.CITY}, {Dimension.SOURCE}) GROUP BY 1, 2, 3
        """,  # noqa: S608
        "<",
    ),
    Check(
        ("link_id", "day", "dimension", "value"),
        "value of the day", f"""
            SELECT link_id, day, dimension, CASE
                WHEN dimension = {Dimension.REFERRER} AND value IN ('direct', 'unknown') THEN '{_NO_HOST}' ELSE value
            END AS value, sum(clicks) AS n FROM analytics_daycount WHERE day >= %(first)s GROUP BY 1, 2, 3, 4
        """,  # noqa: S608
        "clicks", f"""
            SELECT link_id, {DAY} AS day, dimension, value COLLATE "C" AS value, count(*) AS n
            FROM analytics_click, LATERAL (
                SELECT regexp_replace(substring(referrer FROM '^[^:]*://([^/]*)'), '^www\\.', '') AS host
            ) referring, LATERAL (VALUES
                ({Dimension.COUNTRY}, country), ({Dimension.DEVICE}, device), ({Dimension.BROWSER}, browser),
                ({Dimension.CITY}, CASE WHEN city <> 'unknown' THEN country || ' ' || city END),
                ({Dimension.OPERATING_SYSTEM}, operating_system),
                ({Dimension.SOURCE}, CASE WHEN scanned THEN 'qr' END),
                ({Dimension.REFERRER}, CASE
                    WHEN host IS NULL OR host IN ('direct', 'unknown') THEN '{_NO_HOST}' ELSE host
                END)
            ) counted (dimension, value)
            WHERE kind = {Kind.CLICK} AND value IS NOT NULL AND {DAY} >= %(first)s GROUP BY 1, 2, 3, 4
            UNION ALL
            SELECT link_id, {DAY}, {Dimension.OUTCOME}, CASE kind
                WHEN {Kind.HEAD} THEN 'head' WHEN {Kind.PREFETCH} THEN 'prefetch'
                WHEN {Kind.CRAWLER} THEN 'crawler' ELSE 'refused:' || reason
            END, count(*) FROM analytics_click WHERE kind <> {Kind.CLICK} AND {DAY} >= %(first)s GROUP BY 1, 2, 4
        """,  # noqa: S608
    ),
    Check(
        ("link_id", "dimension", "value"),
        "value of the life", "SELECT link_id, dimension, value, clicks AS n FROM analytics_lifecount",
        "closed days", """
            SELECT link_id, dimension, value, sum(clicks) AS n FROM analytics_daycount
            WHERE day <= (SELECT day FROM analytics_closedday) GROUP BY 1, 2, 3
        """,
    ),
]  # fmt: skip
