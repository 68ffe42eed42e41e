"""Statements that report any number of links from the roll-ups, and the rows that they and those of `raw` return.

A statement counts all links of a `Scope` in one pass over the rows of their days. Links have the same few packed
entries again and again, so it groups by the entry first and unpacks each of them once.
"""

# ruff: noqa: S608 # built from constants

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Any, NamedTuple

from analytics.counting.days import IMPORTED
from analytics.dimensions import BETWEEN_COUNTS
from analytics.models import Dimension, RollupLinks
from analytics.reports.periods import PartsOfDays, Period, midnight
from analytics.reports.queries import (
    CLOSED_DAY,
    Breakdown,
    dimensions_of,
    edge_parameters,
    edge_parts,
    edge_values,
    in_edge,
    lists,
    whole_days,
)
from analytics.reports.reads import chosen_sources
from analytics.reports.scope import FORMER_UTM, Scope

_QUARTER = timedelta(minutes=15)

# A statement reads at most this many days of links, or refuses.
MAX_LINK_DAYS = 300_000


class Row(IntEnum):
    """What a row of a statement has. Other numbers are those of breakdowns."""

    STEP = 0
    TOP_LINK = -1
    # Rows that were read.
    READ = -2
    IMPORTED = -3
    GROUP = -4
    # Clicks of which nothing but the time is known any more, although a filter or a cut day needs more.
    LOST = -5


class Group(NamedTuple):
    """The clicks by a property of their link: ``value`` is SQL over ``links_link l`` and the tables of ``joins``.

    ``value_then`` is over the column ``utm``, which the link had on the day. With ``is_heat``, by weekday and hour
    instead.
    """

    value: str = ""
    joins: str = ""
    is_heat: bool = False
    value_then: str = ""


class Wanted(NamedTuple):
    """The parts of a report. Lists, except those of ``complete``, and groups have at most ``limit`` values, and then
    the rest in a row without a value. ``top``: the number of top links. ``by_channel``: groups are channels, which
    only raw clicks have.
    """

    breakdowns: Collection[Breakdown]
    complete: Collection[Breakdown]
    limit: int
    top: int = 0
    group: Group | None = None
    by_channel: bool = False


class Statement(NamedTuple):
    text: str
    parameters: dict[str, Any]


_STEP = "width_bucket(day, %(steps)s::date[])"
_OF_DAYS = """
{chosen}, day AS MATERIALIZED (
    SELECT *, {step} AS step FROM ({rows} LIMIT %(most)s + 1) limited
), grouped AS MATERIALIZED (
    SELECT step, link_id, GROUPING(step) AS no_step, GROUPING(link_id) AS no_link,
        sum(clicks)::bigint AS clicks, sum(unique_clicks)::bigint AS unique_clicks,
        coalesce(sum(clicks) FILTER (WHERE slot = {imported}), 0)::bigint AS imported,
        count(*) AS number, bool_or(counts IS NULL) AS is_busy
    FROM day GROUP BY GROUPING SETS ((step), (link_id), ())
), entry AS MATERIALIZED (
    SELECT entry, count(*) AS number FROM (
        SELECT unnest(string_to_array(counts, '{separator}')) AS entry FROM day
    ) entries GROUP BY entry
),
"""
_TIMED_BY_DAY = """
timed AS (SELECT step, link_id, clicks, unique_clicks, imported FROM grouped WHERE no_step + no_link = 1),
"""
_TIMED_BY_QUARTER = """
timed AS MATERIALIZED (
    SELECT step, link_id, sum(clicks)::bigint AS clicks, sum(unique_clicks)::bigint AS unique_clicks,
        coalesce(sum(clicks) FILTER (WHERE slot = {imported}), 0)::bigint AS imported
    FROM (SELECT *, width_bucket(start, %(steps)s::timestamptz[]) AS step FROM ({rows}) rows) quarter
    GROUP BY GROUPING SETS ((step), (link_id))
),
"""
# The values on whole days.
_OF_LINKS = """
        SELECT dimension, value COLLATE "C" AS value, c.clicks * number AS clicks
        FROM entry, analytics_unpacked(entry) c
        UNION ALL
        SELECT b.* FROM (SELECT link_id FROM grouped WHERE no_link = 0 AND is_busy) busy {with_days}
        CROSS JOIN LATERAL (
            SELECT dimension, value, clicks FROM analytics_busydaycount
            WHERE link_id = busy.link_id AND dimension = ANY(%(summed)s::smallint[])
            AND day BETWEEN %(whole_first)s AND %(whole_last)s{on_days} OFFSET 0
        ) b
"""
_OF_ROLLUP = """
        {days}
        UNION ALL
        SELECT dimension, value COLLATE "C", u.clicks FROM analytics_rollupchange, analytics_unpacked(counts) u
        WHERE link_id = %(link)s AND {of_days} AND dimension = ANY(%(summed)s::smallint[])
"""
_OF_WHOLE_DAYS = "day BETWEEN %(whole_first)s AND %(whole_last)s"
# Days of which parts are left out.
_OF_CUT_DAYS = "day = ANY(%(cut_days)s::date[])"
_CUT_DAYS = f"""
        UNION ALL
        SELECT dimension, value, clicks FROM analytics_daycount
        WHERE link_id = %(link)s AND dimension = ANY(%(summed)s::smallint[]) AND {_OF_CUT_DAYS}
"""
# Of a link with clicks on a day. To add up the roll-up's links of that day is faster than to look up each click's.
_IS_OF_ROLLUP = """
(link_id IN (
    SELECT link_id FROM (
        SELECT unnest(links) AS link_id, unnest(clicks) AS clicks FROM analytics_rolluplinks
        WHERE link_id = %(rollup)s AND day = ANY(%(edge_days)s::date[])
        UNION ALL
        SELECT unnest(links), unnest(link_clicks) FROM analytics_rollupchange
        WHERE link_id = %(rollup)s AND day = ANY(%(edge_days)s::date[])
    ) of_day GROUP BY 1 HAVING sum(clicks) > 0
)) IS TRUE
"""
_COUNTED = """
counted AS MATERIALIZED (
    SELECT dimension, value, sum(clicks)::bigint AS clicks FROM (
        {values}
        UNION ALL
        SELECT dimension, value, clicks FROM ({outcomes}) outcome
        {edge_parts}
    ) part GROUP BY 1, 2
), listed AS MATERIALIZED ({lists})
"""
_RANKED = """
SELECT kind, CASE WHEN place <= %(limit)s THEN value END, sum(clicks)::bigint, sum(unique_clicks)::bigint FROM (
    SELECT *, CASE WHEN kind = ANY(%(complete)s::integer[]) THEN 0
        ELSE row_number() OVER (PARTITION BY kind ORDER BY clicks DESC, value COLLATE "C") END AS place
    FROM ({rows}) counted_rows WHERE clicks > 0
) ranked GROUP BY 1, 2
"""
_LISTED = (
    "SELECT breakdown AS kind, value, clicks, 0::bigint AS unique_clicks FROM listed WHERE breakdown > 0"
)
_BY_LINK = """
SELECT {kind}, {value}, sum(t.clicks)::bigint, sum(t.unique_clicks)::bigint
FROM timed t JOIN links_link l ON l.id = t.link_id {joins} GROUP BY 2
"""
_BY_LINK_AND_DAY = f"""
SELECT {{kind}}, {{value}}, sum(clicks)::bigint, sum(unique_clicks)::bigint FROM (
    SELECT t.clicks, t.unique_clicks, coalesce(({FORMER_UTM.format(of="t")}), l.utm) AS utm FROM (
        SELECT link_id, day, sum(clicks) AS clicks, sum(unique_clicks) AS unique_clicks
        FROM ({{days}}) days GROUP BY 1, 2
    ) t JOIN links_link l ON l.id = t.link_id
) t GROUP BY 2
"""
_TOP_LINKS = f"""
SELECT {Row.TOP_LINK}, l.id || ' ' || l.public_id, most.clicks, most.unique_clicks FROM (
    SELECT link_id, clicks, unique_clicks FROM timed
    WHERE link_id IS NOT NULL AND clicks > 0 ORDER BY clicks DESC, link_id DESC LIMIT %(top)s
) most JOIN links_link l ON l.id = most.link_id
"""
_STEPS = f"SELECT {Row.STEP}, step::text, clicks, unique_clicks FROM timed WHERE step IS NOT NULL"
_IMPORTED = (
    f"SELECT {Row.IMPORTED}, '', coalesce(sum(imported), 0)::bigint, 0 FROM timed WHERE step IS NOT NULL"
)
_READ = f"SELECT {Row.READ}, '', number, 0 FROM grouped WHERE no_step = 1 AND no_link = 1"
_LOST = f"SELECT {Row.LOST}, '', clicks, 0 FROM deleted"
_HEAT = """
SELECT {kind}, to_char(start AT TIME ZONE %(zone)s, 'ID-FMHH24'), sum(clicks)::bigint, sum(unique_clicks)::bigint
FROM ({rows}) quarter GROUP BY 2 HAVING sum(clicks) > 0
"""


def from_rollups(
    scope: Scope,
    period: Period,
    steps: Sequence[datetime],
    *,
    by_day: bool,
    wanted: Wanted,
    parts: PartsOfDays,
) -> Statement:
    """``by_day``: the steps are days or months of UTC. ``parts``: how to read parts of days; only of a roll-up, days
    without spans left out. These need all raw clicks: the row LOST has how many are missing.
    """
    dimensions = dimensions_of(wanted.breakdowns)
    parameters = parameters_of(scope, period, wanted)
    parameters["steps"] = [step.date() for step in steps] if by_day else list(steps)
    parameters["most"] = MAX_LINK_DAYS
    parameters["summed"] = [dimension for dimension in dimensions if dimension != Dimension.OUTCOME]
    days = scope.rows(
        "analytics_daytotal",
        "day slot clicks unique_clicks counts",
        "t.day BETWEEN %(whole_first)s AND %(whole_last)s",
    )
    quarters = quarter_rows(scope)
    text = "WITH " + _OF_DAYS.format(
        chosen=scope.chosen,
        separator=BETWEEN_COUNTS,
        imported=IMPORTED,
        step=_STEP if by_day else "0",
        rows=days,
    )
    text += _TIMED_BY_DAY if by_day else _TIMED_BY_QUARTER.format(imported=IMPORTED, rows=quarters)
    others = [_READ, _IMPORTED]
    if parts.read:
        of_clicks = _IS_OF_ROLLUP if scope.is_rolled else scope.of_clicks("analytics_rawclick")
        parameters |= edge_parameters(parts.read) | {"cut_days": parts.days, "edge_days": parts.with_clicks}
        in_quarters = [
            scope.rows("analytics_quartertotal", "clicks", in_edge(number))
            for number in range(len(parts.read))
        ]
        text += edge_values(dimensions, in_quarters, of_clicks, left_out=len(parts.left_out))
    with_days = "JOIN chosen USING (link_id)" if scope.has_days else ""
    values = _OF_LINKS.format(with_days=with_days, on_days=scope.on_days("day"))
    if scope.is_rolled:
        used, of_sources = chosen_sources(scope.values["rollup"], *period.whole_days)
        parameters |= {"link": scope.values["rollup"]} | of_sources
        text += f"closed AS MATERIALIZED ({CLOSED_DAY}),"
        days, of_days = whole_days(used), _OF_WHOLE_DAYS
        if parts.days:
            days, of_days = days + _CUT_DAYS, f"({_OF_WHOLE_DAYS} OR {_OF_CUT_DAYS})"
            others.append(_LOST)
        values = _OF_ROLLUP.format(days=days, of_days=of_days)
    text += _COUNTED.format(
        values=values,
        outcomes=outcomes_of(scope),
        edge_parts=edge_parts(dimensions) if parts.read else "",
        lists=lists(wanted.breakdowns),
    )
    days_of_links = (
        f"SELECT link_id, (start AT TIME ZONE 'UTC')::date AS day, clicks, unique_clicks FROM ({quarters}) q"
    )
    if by_day:
        days_of_links = "SELECT link_id, day, clicks, unique_clicks FROM day"
    return Statement(text + final_parts(scope, wanted, quarters, days_of_links, *others), parameters)


# The clicks of links in a bucket are added up at once: that takes half the time of all links at once, because they
# stay in the processor's cache. In the order of their clicks, the links are looked up until enough are in the roll-up:
# parts of days are those of all links.
_RANKING = """
WITH part AS MATERIALIZED (
    SELECT (link_id >> {bits})::integer AS bucket, array_agg(link_id) AS links, array_agg(clicks) AS clicks
    FROM ({parts}) part GROUP BY 1
), bucket AS (
    SELECT bucket FROM analytics_rolluplinks WHERE {of_days} UNION SELECT bucket FROM part
), most AS (
    SELECT of_bucket.* FROM bucket CROSS JOIN LATERAL (
        SELECT link_id, sum(clicks)::bigint AS clicks FROM (
            SELECT unnest(links) AS link_id, unnest(clicks) AS clicks FROM analytics_rolluplinks t
            WHERE t.bucket = bucket.bucket AND {of_days}
            UNION ALL SELECT unnest(links), unnest(clicks) FROM part WHERE part.bucket = bucket.bucket
        ) of_link GROUP BY 1 HAVING sum(clicks) > {least} ORDER BY 2 DESC, 1 DESC {limit}
    ) of_bucket ORDER BY clicks DESC, link_id DESC {limit}
)
SELECT l.id, l.public_id, most.clicks, ({unique}) FROM most CROSS JOIN LATERAL (
    SELECT l.id, l.public_id FROM links_link l JOIN links_searchable s ON s.link_id = l.id
    WHERE l.id = most.link_id AND {member} OFFSET 0
) l ORDER BY most.clicks DESC, most.link_id DESC LIMIT %(top)s
"""
_OF_DAYS_OF_ROLLUP = "link_id = %(rollup)s AND day BETWEEN %(whole_first)s AND %(whole_last)s"
_WAITING = f"""
SELECT unnest(links) AS link_id, unnest(link_clicks) AS clicks FROM analytics_rollupchange WHERE {_OF_DAYS_OF_ROLLUP}
"""
# Of all links, in one scan of the rows of a day. The times of a view would take half of the report.
_EDGE_OF_LINKS = """
SELECT link_id, CASE WHEN quarters IS NULL THEN clicks ELSE (
    SELECT sum(quarters[place + 1]) FROM generate_series(1, cardinality(quarters), 3) place
    WHERE quarters[place] >= %(first_quarter_{number})s AND quarters[place] < %(end_quarter_{number})s
) END FROM analytics_daytotal
WHERE link_id > 0 AND day = %(edge_day_{number})s
AND (quarters IS NOT NULL OR quarter >= %(first_quarter_{number})s AND quarter < %(end_quarter_{number})s)
"""
_UNIQUE = "SELECT sum(unique_clicks)::bigint FROM ({rows}) part"
_LINK_DAYS = """
SELECT coalesce(sum(number), 0)::bigint FROM analytics_rolluplinks
WHERE link_id = %(rollup)s AND day BETWEEN %(touched_first)s AND %(touched_last)s
"""


def link_days(scope: Scope, period: Period) -> Statement:
    """How many days of links `top_links` would add up, but for those of changes that wait."""
    return Statement(_LINK_DAYS, parameters_of(scope, period, Wanted((), (), 0)))


def top_links(scope: Scope, period: Period, top: int, *, of: int | None) -> Statement:
    """The links of a roll-up with the most clicks. Reads the parts of days of all links.

    ``of``: look only at so many links with the most clicks, and more than one. Too few links then mean that there may
    be others.
    """
    of_link = "t.link_id = most.link_id"
    parts = [_WAITING]
    # Few links need their unique clicks.
    unique = [
        "SELECT unique_clicks FROM analytics_daytotal t"
        f" WHERE {of_link} AND t.day BETWEEN %(whole_first)s AND %(whole_last)s"
    ]
    parameters = parameters_of(scope, period, Wanted((), (), 0, top))
    for number, edge in enumerate(period.edges):
        day = midnight(edge.since.date(), UTC)
        parameters[f"edge_day_{number}"] = day.date()
        parameters[f"first_quarter_{number}"], parameters[f"end_quarter_{number}"] = (
            -((day - moment) // _QUARTER) for moment in edge
        )
        parts.append(_EDGE_OF_LINKS.format(number=number))
        unique.append(
            f"SELECT unique_clicks FROM analytics_quartertotal t WHERE {of_link} AND {in_edge(number)}"
        )
    text = _RANKING.format(
        bits=RollupLinks.LINK_BITS,
        parts=" UNION ALL ".join(parts),
        of_days=_OF_DAYS_OF_ROLLUP,
        unique=_UNIQUE.format(rows=" UNION ALL ".join(unique)),
        member=scope.member,
        least=0 if of is None else 1,
        limit="" if of is None else f"LIMIT {of:d}",
    )
    return Statement(text, parameters)


def outcomes_of(scope: Scope) -> str:
    """The requests that are no clicks, on the days of the period."""
    return scope.rows(
        "analytics_busydaycount",
        "dimension value clicks",
        f"t.dimension = {Dimension.OUTCOME} AND t.day BETWEEN %(touched_first)s AND %(touched_last)s",
    )


def quarter_rows(scope: Scope) -> str:
    """The quarters of an hour within the period."""
    return scope.rows(
        "analytics_quartertotal",
        "start slot clicks unique_clicks",
        "t.day BETWEEN %(touched_first)s AND %(touched_last)s AND t.start >= %(since)s AND t.start < %(until)s",
    )


def parameters_of(scope: Scope, period: Period, wanted: Wanted) -> dict[str, Any]:
    """The parameters of all statements."""
    parameters = scope.values | {
        "limit": wanted.limit,
        "complete": list(wanted.complete),
        "top": wanted.top,
        "zone": str(period.zone),
    }
    parameters["since"], parameters["until"] = period.span
    parameters["whole_first"], parameters["whole_last"] = period.whole_days
    parameters["touched_first"], parameters["touched_last"] = period.touched_days
    return parameters | edge_parameters(period.edges)


def final_parts(scope: Scope, wanted: Wanted, quarters: str, days: str, *others: str) -> str:
    """The end of a statement with the CTEs ``timed`` and ``listed``. ``days``: a query for clicks of links by day."""
    ranked = _LISTED
    if wanted.group is not None and wanted.group.is_heat:
        others += (_HEAT.format(kind=Row.GROUP, rows=quarters),)
    elif wanted.group is not None and wanted.group.value_then and scope.has_former_utm:
        by_link = _BY_LINK_AND_DAY.format(kind=Row.GROUP, value=wanted.group.value_then, days=days)
        ranked += f" UNION ALL {by_link}"
    elif wanted.group is not None:
        by_link = _BY_LINK.format(kind=Row.GROUP, value=wanted.group.value, joins=wanted.group.joins)
        ranked += f" UNION ALL {by_link}"
    top = (_TOP_LINKS,) if wanted.top else ()
    return " UNION ALL ".join([_RANKED.format(rows=ranked), _STEPS, *top, *others])
