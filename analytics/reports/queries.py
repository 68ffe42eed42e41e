"""The SQL of reports, and how the stored dimensions add up to their lists.

In UTC, and without dates, the roll-ups by day and lifetime suffice. Days of other zones start and end inside UTC days:
totals then come from quarters of an hour, and values at both ends of the range from the raw clicks.

A value that is not stored has the rest of the clicks: those of ``CLIENT``, which has all, minus the stored ones.
"""

# ruff: noqa: S608 # built from constants

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import IntEnum
from typing import NamedTuple

from analytics.counting.days import IMPORTED
from analytics.dimensions import (
    BRANCH,
    BROWSER_OF_CLIENT,
    COUNTRY_OF_PLACE,
    DEVICE_OF_CLIENT,
    DIRECT,
    IS_CLICK,
    LANGUAGE_OF_COUNTRY,
    OF_ALL_LINKS,
    OF_BRANCHES,
    OF_UNKNOWN_CLICKS,
    REGION_OF_CITY,
    SYSTEM_OF_CLIENT,
    UNKNOWN,
    WHOLE_CITY_OF_CITY,
)
from analytics.models import Dimension, Kind
from analytics.reports.sources import LIFETIME, Sources


class Breakdown(IntEnum):
    """The lists that a report can have."""

    COUNTRY = 1
    # "DE Berlin"
    CITY = 2
    DEVICE = 3
    BROWSER = 4
    OPERATING_SYSTEM = 5
    REFERRER = 6
    OUTCOME = 7
    SOURCE = 8
    BRANCH = 9
    UNIQUE_BRANCH = 10
    # The values of the dimensions CLIENT and CITY.
    CLIENT = 11
    PLACE = 12
    # "DE Bavaria"
    REGION = 13
    LANGUAGE = 14


class _Part(NamedTuple):
    """The clicks of ``dimension`` count for ``value`` of the list, an SQL expression over a stored value.

    ``sign``: whether to add or to subtract them.
    """

    dimension: Dimension
    value: str = "value"
    sign: int = 1

    @property
    def is_stored(self) -> bool:
        """Whether the list has the stored values as they are."""
        return self.value == "value"


def _with_rest(stored: Dimension, rest: str, value: str = "value") -> tuple[_Part, ...]:
    return (_Part(stored, value), _Part(Dimension.CLIENT, f"'{rest}'"), _Part(stored, f"'{rest}'", -1))


def _of_places(value: str) -> tuple[_Part, ...]:
    """The unknown places of a country have the country's clicks without those of its known places."""
    unknown, nowhere = f"{COUNTRY_OF_PLACE} || ' {UNKNOWN}'", f"'{UNKNOWN} {UNKNOWN}'"
    return (
        _Part(Dimension.CITY, value),
        _Part(Dimension.COUNTRY, unknown),
        _Part(Dimension.CITY, unknown, -1),
        _Part(Dimension.CLIENT, nowhere),
        _Part(Dimension.COUNTRY, nowhere, -1),
    )


_LISTS = {
    Breakdown.COUNTRY: _with_rest(Dimension.COUNTRY, UNKNOWN, COUNTRY_OF_PLACE),
    Breakdown.LANGUAGE: _with_rest(Dimension.COUNTRY, UNKNOWN, LANGUAGE_OF_COUNTRY),
    Breakdown.CITY: _of_places(WHOLE_CITY_OF_CITY),
    Breakdown.REGION: _of_places(f"{COUNTRY_OF_PLACE} || ' ' || {REGION_OF_CITY}"),
    Breakdown.PLACE: _of_places("value"),
    Breakdown.DEVICE: (_Part(Dimension.CLIENT, DEVICE_OF_CLIENT),),
    Breakdown.BROWSER: (_Part(Dimension.CLIENT, BROWSER_OF_CLIENT),),
    Breakdown.OPERATING_SYSTEM: (_Part(Dimension.CLIENT, SYSTEM_OF_CLIENT),),
    Breakdown.REFERRER: _with_rest(Dimension.REFERRER, DIRECT),
    Breakdown.OUTCOME: (_Part(Dimension.OUTCOME),),
    Breakdown.SOURCE: (_Part(Dimension.SOURCE),),
    Breakdown.BRANCH: (_Part(Dimension.BRANCH),),
    Breakdown.UNIQUE_BRANCH: (_Part(Dimension.UNIQUE_BRANCH),),
    Breakdown.CLIENT: (_Part(Dimension.CLIENT),),
}


def dimensions_of(breakdowns: Iterable[Breakdown]) -> list[Dimension]:
    """The stored dimensions from which these lists are made."""
    return sorted({part.dimension for breakdown in breakdowns for part in _LISTS[breakdown]})


def lists(breakdowns: Collection[Breakdown]) -> str:
    """A query with the columns breakdown, value and clicks, from the clicks by dimension and value in ``counted``."""
    parts = [(breakdown, part) for breakdown in breakdowns for part in _LISTS[breakdown]]
    stored = " ".join(
        f"WHEN {part.dimension} THEN {breakdown:d}" for breakdown, part in parts if part.is_stored
    )
    derived = [(breakdown, part) for breakdown, part in parts if not part.is_stored]
    # One scan and one grouping: planning a query for each list takes longer than reading them.
    values = list(dict.fromkeys(part.value for _, part in derived))
    cases = " ".join(f"WHEN {number} THEN {value}" for number, value in enumerate(values))
    rows = ", ".join(
        f"({part.dimension}, {breakdown:d}, {values.index(part.value)}, {part.sign})"
        for breakdown, part in derived
    )
    queries = []
    if stored:
        queries.append(f"SELECT CASE dimension {stored} END AS breakdown, value, clicks FROM counted")
    if rows:
        queries.append(f"""
        SELECT breakdown, CASE value_number {cases} END AS value, sum(sign * clicks)::bigint AS clicks
        FROM counted JOIN (VALUES {rows}) part (dimension, breakdown, value_number, sign) USING (dimension)
        GROUP BY 1, 2
        """)
    return " UNION ALL ".join(queries)


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
        SELECT {values} FROM analytics_click c
        WHERE {of_clicks} AND kind = {click} AND {in_minutes} AND ({in_time})
    ) click GROUP BY GROUPING SETS ({sets}, ())
), deleted AS (
    SELECT (
        SELECT coalesce(sum(clicks), 0)::bigint FROM {quarters} WHERE {of_links}
        AND day BETWEEN %(touched_first)s AND %(touched_last)s AND ({in_start})
    ) - (SELECT clicks FROM edge WHERE dimension IS NULL) AS clicks
),
"""
EDGE_PARTS = f"""
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
    WHERE EXISTS (SELECT FROM links_route WHERE {{of_links}} AND number > 0)
    AND {{of_links}} AND {IS_CLICK} AND branch IS NOT NULL AND {{in_minutes}} AND ({{in_time}})
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
# Imported clicks have the time of noon.
IMPORTED_CLICKS = f"""
SELECT coalesce(sum(clicks), 0)::bigint FROM analytics_daytotal
WHERE link_id = %(link)s AND slot = {IMPORTED}
AND day + time '12:00' >= %(since)s::timestamptz AT TIME ZONE 'UTC'
AND day + time '12:00' < %(until)s::timestamptz AT TIME ZONE 'UTC'
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
    return _values(breakdowns, whole_days(LIFETIME))


def of_range(breakdowns: Collection[Breakdown], edges: int, sources: Sources | None) -> str:
    """The values of whole days, and of ``edges`` partial days: from ``since_0`` to before ``until_0``, etc.

    ``sources``: where those of the whole days come from; None: from each day.
    """
    dimensions = dimensions_of(breakdowns)
    days = whole_days(sources)
    outcomes = _OUTCOMES if Dimension.OUTCOME in dimensions else ""
    if not edges:
        return _values(breakdowns, days + outcomes)
    edge = edge_values(dimensions, edges, "link_id = %(link)s")
    branches = edge_branches(dimensions, edges, "link_id = %(link)s")
    return _values(breakdowns, days + outcomes + EDGE_PARTS + branches, edge)


def edge_values(
    dimensions: Collection[Dimension],
    edges: int,
    of_links: str,
    *,
    of_clicks: str = "",
    quarters: str = "analytics_quartertotal",
) -> str:
    """The CTEs that `EDGE_PARTS` reads. ``of_links`` is a condition on ``link_id``.

    ``of_clicks``: the one for a raw click ``c``, if it is another.
    """
    names = {dimension: f"value_{dimension:d}" for dimension in dimensions if dimension in _CLICK_VALUES}
    return _EDGES.format(
        of_links=of_links,
        of_clicks=of_clicks or of_links,
        quarters=quarters,
        cases=" ".join(f"WHEN GROUPING({name}) = 0 THEN {dimension:d}" for dimension, name in names.items()),
        columns=", ".join(names.values()),
        values=", ".join(f"{_CLICK_VALUES[dimension]} AS {name}" for dimension, name in names.items()),
        sets=", ".join(f"({name})" for name in names.values()),
        click=Kind.CLICK,
        in_time=_within("time", edges),
        in_minutes=_minutes(edges),
        in_start=_within("start", edges),
    )


def edge_branches(dimensions: Collection[Dimension], edges: int, of_links: str) -> str:
    """Further parts beside `EDGE_PARTS`. None without branches."""
    if not any(definition.dimension in dimensions for definition in OF_BRANCHES):
        return ""
    return _EDGE_BRANCHES.format(
        of_links=of_links, in_time=_within("time", edges), in_minutes=_minutes(edges)
    )


def whole_days(sources: Sources | None) -> str:
    """The values of a link on whole days, for a statement with the CTE ``closed``. None: from each day."""
    if sources is None:
        return _DAYS
    spans = [_SPAN.format(sign=span.sign, number=number) for number, span in enumerate(sources.spans)]
    months = [_MONTHS.format(sign=sources.sign)] if sources.months else []
    life = [_LIFE] if sources.is_of_life else []
    return " UNION ALL ".join([*life, *months, *spans, _OPEN_DAYS])


def _values(breakdowns: Collection[Breakdown], parts: str, edges: str = "") -> str:
    return _VALUES.format(edges=edges, parts=parts, lists=lists(breakdowns))


def _within(column: str, edges: int) -> str:
    """A condition: the time is in one of the edges."""
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
