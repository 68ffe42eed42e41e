"""The SQL of reports.

In UTC, and without dates, the roll-ups by day and lifetime suffice. Days of other zones start and end inside UTC days:
totals then come from quarters of an hour, and values at both ends of the range from the raw clicks.
"""

# ruff: noqa: S608 # built from constants

from __future__ import annotations

from collections.abc import Collection

from analytics.dimensions import BRANCH, IS_CLICK, OF_ALL_LINKS, OF_BRANCHES, OF_UNKNOWN_CLICKS
from analytics.models import Dimension, Kind
from analytics.reports.breakdowns import Breakdown, dimensions_of, lists
from analytics.reports.sources import LIFETIME, Sources

CLOSED_DAY = "SELECT coalesce(max(day), '1970-01-01') AS day FROM analytics_closedday"
# The constant %(closed)s shows the planner how few days are open. The CTE is exact: a day may have been closed since
# the constant was read. A closed day never opens again.
_CLOSED = "(SELECT day FROM closed)"
_OF_LINK = "link_id = %(link)s AND dimension = ANY(%(summed)s::smallint[])"
_DAYS = f"""
SELECT dimension, value, clicks FROM analytics_daycount
WHERE {_OF_LINK} AND day BETWEEN %(whole_first)s AND %(whole_last)s
"""
_OPEN_DAYS = f"{_DAYS} AND day > %(closed)s AND day > {_CLOSED}"
_LIFE = f"SELECT dimension, value, clicks FROM analytics_lifecount WHERE {_OF_LINK}"
_MONTHS = f"""
SELECT dimension, value, {{sign}} * clicks AS clicks FROM analytics_monthcount
WHERE {_OF_LINK} AND month = ANY(%(months)s::date[])
"""
# One query for each span: the planner estimates the rows of each from its dates.
_SPAN = f"""
SELECT dimension, value, {{sign}} * clicks AS clicks FROM analytics_daycount
WHERE {_OF_LINK} AND day BETWEEN %(span_first_{{number}})s AND %(span_last_{{number}})s AND day <= {_CLOSED}
"""
_OUTCOMES = f"""
UNION ALL
SELECT dimension, value, clicks FROM analytics_busydaycount
WHERE link_id = %(link)s AND dimension = {Dimension.OUTCOME}
AND day BETWEEN %(touched_first)s AND %(touched_last)s
"""
# The stored values of raw clicks; null if nothing is stored.
_CLICK_VALUES = {
    definition.dimension: f"CASE WHEN {definition.condition or 'true'} THEN {definition.value} END"
    for definition in OF_ALL_LINKS
    if definition.of_clicks
}
# Retention deletes raw clicks. The values of deleted clicks are unknown, but they still count.
_EDGES = """
edge AS MATERIALIZED (
    SELECT CASE {cases} END AS dimension, coalesce({columns}) AS value, count(*) AS clicks
    FROM (
        SELECT {values} FROM analytics_click
        WHERE link_id = %(link)s AND kind = {click} AND {in_minutes} AND ({in_time})
    ) click GROUP BY GROUPING SETS ({sets}, ())
), deleted AS (
    SELECT (
        SELECT coalesce(sum(clicks), 0)::bigint FROM analytics_quartertotal
        WHERE link_id = %(link)s AND day BETWEEN %(touched_first)s AND %(touched_last)s AND ({in_start})
    ) - (SELECT clicks FROM edge WHERE dimension IS NULL) AS clicks
),
"""
_EDGE_PARTS = f"""
UNION ALL
SELECT dimension, value, clicks FROM edge WHERE value IS NOT NULL
UNION ALL
SELECT unknown.*, deleted.clicks FROM (VALUES {OF_UNKNOWN_CLICKS}) unknown (dimension, value), deleted
WHERE dimension = ANY(%(summed)s::smallint[]) AND deleted.clicks > 0
"""
# Another read of these raw clicks, only for links that have or had branches.
_EDGE_BRANCHES = f"""
UNION ALL
SELECT dimension, value, count(*) FROM (
    SELECT kind, branch, is_unique, {BRANCH} AS value FROM analytics_click
    WHERE EXISTS (SELECT FROM links_route WHERE link_id = %(link)s AND number > 0)
    AND link_id = %(link)s AND {IS_CLICK} AND branch IS NOT NULL AND {{in_minutes}} AND ({{in_time}})
) click, LATERAL (
    VALUES {", ".join(f"({definition.dimension}, {definition.is_stored})" for definition in OF_BRANCHES)}
) counted (dimension, is_stored) WHERE is_stored GROUP BY 1, 2
"""
# The most frequent values of limited lists, all values of the others. The planner overestimates the open days and
# would start parallel workers, which takes longer than the report. They cannot read the CTE ``closed``.
_VALUES = f"""
WITH {{edges}} closed AS MATERIALIZED ({CLOSED_DAY}), counted AS MATERIALIZED (
    SELECT dimension, value, sum(clicks)::bigint AS clicks FROM ({{parts}}) part GROUP BY 1, 2
), listed AS MATERIALIZED ({{lists}})
SELECT requested.breakdown, most.value, most.clicks, 0::bigint
FROM unnest(%(breakdowns)s::integer[]) AS requested(breakdown), LATERAL (
    SELECT value, clicks FROM listed WHERE breakdown = requested.breakdown AND clicks > 0
    ORDER BY clicks DESC, value COLLATE "C"
    LIMIT CASE WHEN requested.breakdown = ANY(%(limited)s::integer[]) THEN %(limit)s END
) most
"""

# The same columns as those of the values. No breakdown has the number 0.
BY_DAY = """
SELECT 0, width_bucket(day, %(steps)s::date[])::text, sum(clicks)::bigint, sum(unique_clicks)::bigint
FROM analytics_daytotal
WHERE link_id = %(link)s AND day >= %(since)s::date AND day < %(until)s::date GROUP BY 2
"""
BY_QUARTER = """
SELECT 0, width_bucket(start, %(steps)s::timestamptz[])::text, sum(clicks)::bigint, sum(unique_clicks)::bigint
FROM analytics_quartertotal
WHERE link_id = %(link)s AND day BETWEEN (%(since)s::timestamptz AT TIME ZONE 'UTC')::date
    AND (%(until)s::timestamptz AT TIME ZONE 'UTC')::date
AND start >= %(since)s::timestamptz AND start < %(until)s::timestamptz GROUP BY 2
"""
ORDERED = """
SELECT * FROM ({parts}) part(breakdown, value, clicks, unique_clicks)
ORDER BY breakdown, clicks DESC, value COLLATE "C"
"""

FIRST_AND_LAST_DAY = (
    "SELECT min(day), max(day) FROM analytics_daytotal WHERE link_id = %(link)s AND clicks > 0"
)
# The fields of `analytics.reports.sources.LinkDays`, from one snapshot.
LINK_DAYS = f"""
SELECT first, last, ARRAY(SELECT month FROM analytics_busymonth WHERE link_id = %(link)s ORDER BY month),
({CLOSED_DAY}) FROM ({FIRST_AND_LAST_DAY}) days (first, last)
"""
# Of the first and the last day only: every other day would have to be unpacked, too.
FIRST_AND_LAST_QUARTER = f"""
SELECT (SELECT min(start) FROM analytics_quartertotal WHERE link_id = %(link)s AND day = first AND clicks > 0),
    (SELECT max(start) FROM analytics_quartertotal WHERE link_id = %(link)s AND day = last AND clicks > 0)
FROM ({FIRST_AND_LAST_DAY}) days (first, last)
"""


def of_life(breakdowns: Collection[Breakdown]) -> str:
    return _values(breakdowns, _whole_days(LIFETIME))


def of_range(breakdowns: Collection[Breakdown], edges: int, sources: Sources | None) -> str:
    """The values of whole days, and of ``edges`` partial days: from ``since_0`` to before ``until_0``, etc.

    ``sources``: where those of the whole days come from; None: from each day.
    """
    dimensions = dimensions_of(breakdowns)
    days = _whole_days(sources) if sources else _DAYS
    outcomes = _OUTCOMES if Dimension.OUTCOME in dimensions else ""
    if not edges:
        return _values(breakdowns, days + outcomes)
    names = {dimension: f"value_{dimension:d}" for dimension in dimensions if dimension in _CLICK_VALUES}
    edge = _EDGES.format(
        cases=" ".join(f"WHEN GROUPING({name}) = 0 THEN {dimension:d}" for dimension, name in names.items()),
        columns=", ".join(names.values()),
        values=", ".join(f"{_CLICK_VALUES[dimension]} AS {name}" for dimension, name in names.items()),
        sets=", ".join(f"({name})" for name in names.values()),
        click=Kind.CLICK,
        in_time=_within("time", edges),
        in_minutes=_minutes(edges),
        in_start=_within("start", edges),
    )
    has_branches = any(definition.dimension in dimensions for definition in OF_BRANCHES)
    branches = (
        _EDGE_BRANCHES.format(in_time=_within("time", edges), in_minutes=_minutes(edges))
        if has_branches
        else ""
    )
    return _values(breakdowns, days + outcomes + _EDGE_PARTS + branches, edge)


def _whole_days(sources: Sources) -> str:
    spans = [_SPAN.format(sign=span.sign, number=number) for number, span in enumerate(sources.spans)]
    months = [_MONTHS.format(sign=sources.sign)] if sources.months else []
    life = [_LIFE] if sources.is_of_life else []
    return " UNION ALL ".join([*life, *months, *spans, _OPEN_DAYS])


def _values(breakdowns: Collection[Breakdown], parts: str, edges: str = "") -> str:
    return _VALUES.format(edges=edges, parts=parts, lists=lists(breakdowns))


def _within(column: str, edges: int) -> str:
    return " OR ".join(
        f"({column} >= %(since_{number})s AND {column} < %(until_{number})s)" for number in range(edges)
    )


def _minutes(edges: int) -> str:
    """The minutes of the edges: only these columns have an index, and tell which partitions are needed."""
    first = [f"extract(epoch FROM %(since_{number})s::timestamptz)::bigint / 60" for number in range(edges)]
    last = [f"extract(epoch FROM %(until_{number})s::timestamptz)::bigint / 60" for number in range(edges)]
    return (
        "("
        + " OR ".join(f"minute BETWEEN {one} AND {other}" for one, other in zip(first, last, strict=True))
        + ")"
    )
