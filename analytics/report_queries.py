"""The SQL of reports.

In UTC, and without dates, the roll-ups by day and for life say everything. Another zone's days begin and end inside
days of UTC: totals come by quarters of an hour then, and values out of the raw clicks at both ends of the range.
"""

# ruff: noqa: S608 # all of it is put together from constants

from __future__ import annotations

from collections.abc import Collection

from analytics.models import Dimension, Kind

# Days are closed one after the other, so none of those up to ``closed`` is open again. It tells the planner how few
# the open ones are; the other condition is exact.
CLOSED_DAY = "SELECT coalesce(max(day), '1970-01-01') FROM analytics_closedday"
_LIFE = f"""
SELECT dimension, value, clicks FROM analytics_lifecount
WHERE link_id = %(link)s AND dimension = ANY(%(dimensions)s::smallint[])
UNION ALL
SELECT dimension, value, clicks FROM analytics_daycount
WHERE link_id = %(link)s AND dimension = ANY(%(dimensions)s::smallint[])
AND day > %(closed)s AND day > ({CLOSED_DAY})
"""
_DAYS = f"""
SELECT dimension, value, clicks FROM analytics_daycount
WHERE link_id = %(link)s AND dimension = ANY(%(dimensions)s::smallint[]) AND dimension <> {Dimension.OUTCOME}
AND day BETWEEN %(whole_first)s AND %(whole_last)s
"""
# A range that holds every click there is reads the life of the link, and of its days only the open ones.
_COVERS = """
(SELECT coalesce(min(day) >= %(whole_first)s AND max(day) <= %(whole_last)s, false)
 FROM analytics_daytotal WHERE link_id = %(link)s)
"""
_DAYS_OR_LIFE = f"""
SELECT dimension, value, clicks FROM analytics_lifecount
WHERE link_id = %(link)s AND dimension = ANY(%(dimensions)s::smallint[]) AND dimension <> {Dimension.OUTCOME}
AND {_COVERS}
UNION ALL
{_DAYS} AND day > (SELECT CASE WHEN {_COVERS} THEN ({CLOSED_DAY}) ELSE '1970-01-01' END)
"""
_OUTCOMES = f"""
UNION ALL
SELECT dimension, value, clicks FROM analytics_daycount
WHERE link_id = %(link)s AND dimension = {Dimension.OUTCOME}
AND day BETWEEN %(touched_first)s AND %(touched_last)s
"""
_SAID = {
    Dimension.COUNTRY: "country",
    Dimension.CITY: "country || ' ' || city",
    Dimension.DEVICE: "device",
    Dimension.BROWSER: "browser",
    Dimension.OPERATING_SYSTEM: "operating_system",
    Dimension.SOURCE: "CASE WHEN scanned THEN 'qr' ELSE 'link' END",
    # As analytics.facts names the sites.
    Dimension.REFERRER: (
        "coalesce(nullif(substr(split_part(referrer, '/', 3),"
        " CASE WHEN starts_with(split_part(referrer, '/', 3), 'www.') THEN 5 ELSE 1 END), ''),"
        " CASE referrer WHEN '' THEN 'direct' ELSE 'unknown' END)"
    ),
}
# Raw clicks are deleted some day. What the deleted ones would have said is unknown, but they are still clicks.
_EDGES = """
edge AS MATERIALIZED (
    SELECT CASE {cases} END AS dimension, coalesce({columns}) AS value, count(*) AS clicks
    FROM (
        SELECT {said} FROM analytics_click WHERE link_id = %(link)s AND kind = {click} AND ({in_time})
    ) click GROUP BY GROUPING SETS ({sets}, ())
), deleted AS (
    SELECT (
        SELECT coalesce(sum(clicks), 0)::bigint FROM analytics_quartertotal WHERE link_id = %(link)s AND ({in_start})
    ) - (SELECT clicks FROM edge WHERE dimension IS NULL) AS clicks
),
"""
_EDGE_PARTS = f"""
UNION ALL
SELECT dimension, value, clicks FROM edge WHERE dimension IS NOT NULL
UNION ALL
SELECT dimension, 'unknown', deleted.clicks FROM unnest(%(dimensions)s::smallint[]) AS dimension, deleted
WHERE dimension NOT IN ({Dimension.CITY}, {Dimension.OUTCOME}) AND deleted.clicks > 0
"""
# Clicks of unknown cities are not kept as such: they are what the cities of a country leave of its clicks.
_WITH_UNKNOWN_CITIES = f"""
(
    SELECT dimension, value, clicks FROM counted
    UNION ALL
    SELECT {Dimension.CITY}, split_part(value, ' ', 1) || ' unknown',
        sum(CASE dimension WHEN {Dimension.CITY} THEN -clicks ELSE clicks END)::bigint
    FROM counted GROUP BY 2
)
"""
# Of the dimensions that are limited the most frequent values, of the others all.
_VALUES = """
WITH {edges} counted AS MATERIALIZED (
    SELECT dimension, value, sum(clicks)::bigint AS clicks FROM ({parts}) part
    WHERE dimension <> {city} OR substr(value, strpos(value, ' ')) <> ' unknown' GROUP BY 1, 2
)
SELECT asked.dimension::integer, most.value, most.clicks, 0::bigint
FROM unnest(%(dimensions)s::smallint[]) AS asked(dimension), LATERAL (
    SELECT value, clicks FROM {counted} counted WHERE dimension = asked.dimension AND clicks > 0
    ORDER BY clicks DESC, value COLLATE "C"
    LIMIT CASE WHEN asked.dimension = ANY(%(limited)s::smallint[]) THEN %(limit)s END
) most
"""

# In the columns of the values, where no dimension has the number 0.
BY_DAY = """
SELECT 0, width_bucket(day, %(steps)s::date[])::text, sum(clicks)::bigint, sum(unique_clicks)::bigint
FROM analytics_daytotal
WHERE link_id = %(link)s AND day >= %(since)s::date AND day < %(until)s::date GROUP BY 2
"""
BY_QUARTER = """
SELECT 0, width_bucket(start, %(steps)s::timestamptz[])::text, sum(clicks)::bigint, sum(unique_clicks)::bigint
FROM analytics_quartertotal
WHERE link_id = %(link)s AND start >= %(since)s::timestamptz AND start < %(until)s::timestamptz GROUP BY 2
"""
ORDERED = """
SELECT * FROM ({parts}) part(dimension, value, clicks, unique_clicks)
ORDER BY dimension, clicks DESC, value COLLATE "C"
"""

FIRST_AND_LAST_DAY = (
    "SELECT min(day), max(day) FROM analytics_daytotal WHERE link_id = %(link)s AND clicks > 0"
)
FIRST_AND_LAST_QUARTER = """
SELECT min(start), max(start) FROM analytics_quartertotal WHERE link_id = %(link)s AND clicks > 0
"""


def of_life(dimensions: Collection[Dimension]) -> str:
    return _values(dimensions, _LIFE)


def of_range(dimensions: Collection[Dimension], edges: int) -> str:
    """The values of whole days, and of so many edges: from ``since_0`` to before ``until_0`` and so on."""
    outcomes = _OUTCOMES if Dimension.OUTCOME in dimensions else ""
    if not edges:
        return _values(dimensions, _DAYS_OR_LIFE + outcomes)
    said = {each: f"said_{each:d}" for each in dimensions if each in _SAID}
    edge = _EDGES.format(
        cases=" ".join(f"WHEN {name} IS NOT NULL THEN {each:d}" for each, name in said.items()),
        columns=", ".join(said.values()),
        said=", ".join(f"{_SAID[each]} AS {name}" for each, name in said.items()),
        sets=", ".join(f"({name})" for name in said.values()),
        click=Kind.CLICK,
        in_time=_within("time", edges),
        in_start=_within("start", edges),
    )
    return _values(dimensions, _DAYS + outcomes + _EDGE_PARTS, edge)


def _values(dimensions: Collection[Dimension], parts: str, edges: str = "") -> str:
    counted = _WITH_UNKNOWN_CITIES if Dimension.CITY in dimensions else "counted"
    return _VALUES.format(edges=edges, parts=parts, counted=counted, city=Dimension.CITY)


def _within(column: str, edges: int) -> str:
    return " OR ".join(
        f"({column} >= %(since_{number})s AND {column} < %(until_{number})s)" for number in range(edges)
    )
