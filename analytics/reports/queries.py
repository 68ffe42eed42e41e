"""The SQL of reports, and how the stored dimensions add up to their lists.

In UTC, and without dates, the roll-ups by day and lifetime suffice. Days of other zones start and end inside UTC days:
totals then come from quarters of an hour, and values at both ends of the range from the raw clicks.

A value that is not stored has the rest of the clicks: those of ``CLIENT``, which has all, minus the stored ones.
"""

# ruff: noqa: S608 # built from constants

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from enum import IntEnum
from typing import Any, NamedTuple

from analytics.counting.days import IMPORTED
from analytics.dimensions import (
    BROWSER_OF_CLIENT,
    COUNTRY_OF_PLACE,
    DEVICE_OF_CLIENT,
    DIRECT,
    IS_CLICK,
    LANGUAGE_OF_COUNTRY,
    OF_UNKNOWN_CLICKS,
    REGION_OF_CITY,
    SYSTEM_OF_CLIENT,
    UNKNOWN,
    WHOLE_CITY_OF_CITY,
)
from analytics.models import WEEK_MINUTES, Dimension
from analytics.reports.periods import Span
from analytics.reports.sources import LIFETIME, Sources
from analytics.reports.texts import LANGUAGE, grouping_for, value_parts


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

    dimension: int
    value: str = "value"
    sign: int = 1

    @property
    def is_stored(self) -> bool:
        """Whether the list has the stored values as they are. Languages are in two dimensions."""
        return self.value == "value" and self.dimension != LANGUAGE


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
    Breakdown.LANGUAGE: (
        *_with_rest(Dimension.COUNTRY, UNKNOWN, LANGUAGE_OF_COUNTRY),
        _Part(LANGUAGE),
        _Part(LANGUAGE, f"'{UNKNOWN}'", -1),
    ),
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


def dimensions_of(breakdowns: Iterable[Breakdown]) -> list[int]:
    """The dimensions from which these lists are made."""
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
        names = f"CASE dimension {stored} END AS breakdown, value, clicks"
        queries.append(f"SELECT {names} FROM counted WHERE CASE dimension {stored} END > 0")
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
# Retention deletes raw clicks. The values of deleted clicks are unknown, but they still count.
_EDGES = f"""
edge AS MATERIALIZED (
    SELECT {{grouping.columns}}, {{grouping.by}} AS by, count(*) AS read, {{number}} AS clicks,
        {{number}} FILTER (WHERE is_unique) AS unique_clicks
    FROM (
        SELECT link_id, minute / {WEEK_MINUTES} AS week, client, place, referrer, branch, scanned, is_unique{{sign}}
        FROM analytics_rawclick WHERE {IS_CLICK} AND {{of_clicks}} AND ({{in_minutes}})
    ) click GROUP BY GROUPING SETS ({{grouping.sets}})
), deleted AS (
    SELECT (SELECT coalesce(sum(clicks), 0)::bigint FROM ({{quarters}}) quarter)
        - (SELECT coalesce(sum(read), 0)::bigint FROM edge WHERE by = 'client') AS clicks
),
"""
_EDGE_PARTS = f"""
UNION ALL {{values}}
UNION ALL
SELECT unknown.*, deleted.clicks FROM (VALUES {OF_UNKNOWN_CLICKS}) unknown (dimension, value), deleted
WHERE dimension = ANY(%(summed)s::smallint[]) AND deleted.clicks > 0
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
    quarters = [
        f"SELECT clicks FROM analytics_quartertotal t WHERE link_id = %(link)s AND {in_edge(number)}"
        for number in range(edges)
    ]
    text = edge_values(dimensions, quarters, "link_id = %(link)s")
    return _values(breakdowns, days + outcomes + edge_parts(dimensions), text)


def edge_values(
    dimensions: Collection[int],
    quarters: Sequence[str],
    of_clicks: str,
    *,
    left_out: int = 0,
) -> str:
    """The CTEs that `edge_parts` reads. ``quarters``: queries for the clicks of each edge in the roll-ups.

    ``of_clicks`` is a condition on the raw clicks. Those of the last edges, so many as are ``left_out``, are
    subtracted.
    """
    in_minutes = [
        f"minute >= %(minute_since_{number})s AND minute < %(minute_until_{number})s"
        for number in range(len(quarters))
    ]
    subtracted = " OR ".join(in_minutes[len(quarters) - left_out :])
    return _EDGES.format(
        of_clicks=of_clicks,
        quarters=" UNION ALL ".join(quarters),
        grouping=grouping_for(dimensions),
        in_minutes=" OR ".join(in_minutes),
        sign=f", CASE WHEN {subtracted} THEN -1 ELSE 1 END AS sign" if left_out else "",
        number="sum(sign)" if left_out else "count(*)",
    )


def in_edge(number: int) -> str:
    """A condition on quarters of an hour ``t``. Their days have an index."""
    since, until = f"%(since_{number})s::timestamptz", f"%(until_{number})s::timestamptz"
    days = f"t.day BETWEEN ({since} AT TIME ZONE 'UTC')::date AND ({until} AT TIME ZONE 'UTC')::date"
    return f"{days} AND t.start >= {since} AND t.start < {until}"


def edge_parts(dimensions: Collection[int]) -> str:
    """The values of the partial days, after those of the whole days."""
    return _EDGE_PARTS.format(values=" UNION ALL ".join(value_parts("edge", dimensions)))


def edge_parameters(edges: Sequence[Span]) -> dict[str, Any]:
    """The parameters of `edge_values`. Only minutes have an index, and tell which partitions are needed."""
    parameters: dict[str, Any] = {}
    for number, edge in enumerate(edges):
        parameters |= {f"since_{number}": edge.since, f"until_{number}": edge.until}
        parameters |= {
            f"minute_since_{number}": minute_of(edge.since),
            f"minute_until_{number}": minute_of(edge.until),
        }
    return parameters


def minute_of(moment: datetime) -> int:
    """The minute since 1970."""
    return int(moment.timestamp()) // 60


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
