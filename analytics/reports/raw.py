"""Statements that report the requests that meet several conditions, from the raw clicks, which alone can combine them.

Conditions are on the texts of a request, but the statement compares and groups the numbers of texts, and looks texts
up for the groups. It also adds up the roll-ups, to notice clicks whose raw rows retention has deleted.
"""

# ruff: noqa: S608 # built from constants

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from analytics.channels import QR, channel_in_sql
from analytics.counting.days import IMPORTED
from analytics.dimensions import (
    DEFINITIONS,
    DIRECT,
    OF_UNKNOWN_CLICKS,
    SITE,
    UNKNOWN,
    UNKNOWN_BRANCH,
)
from analytics.models import Dimension, Kind
from analytics.reports.conditions import Condition
from analytics.reports.figures import (
    Row,
    Statement,
    Wanted,
    final_parts,
    outcomes_of,
    parameters_of,
)
from analytics.reports.periods import Period
from analytics.reports.queries import dimensions_of, in_edge, lists, minute_of
from analytics.reports.scope import DAY_OF_MINUTE, NONE, Scope
from analytics.reports.texts import CLIENT, PLACE, VALUES, grouping_for, value_parts

# A statement reads at most this many requests, or refuses.
MAX_REQUESTS = 1_000_000
CHANNEL = "channel"

# The texts of each column with numbers, and the values of these texts.
_TEXTS = {
    "place": f"SELECT week, number, {PLACE} FROM ({VALUES}) t",
    "client": f"SELECT week, number, {CLIENT} FROM ({VALUES}) t",
    # Decides about the channel once for each text, not for each request.
    "referrer": f"SELECT week, number, site, {channel_in_sql('site')} AS channel FROM ("
    f"SELECT week, number, {SITE} AS site FROM ("
    "SELECT week, number, text AS referrer FROM analytics_clicktext) t) t",
    "branch": f"SELECT week, number, CASE value WHEN '{UNKNOWN_BRANCH}' THEN '{UNKNOWN}' ELSE value END AS branch"
    f" FROM ({VALUES}) t",
}
_SITE = f"coalesce(referrer.site, '{DIRECT}')"
_CHANNEL = f"coalesce(referrer.channel, '{DIRECT}')"


class Filter(NamedTuple):
    """``text``: the column with the number of the text that has the ``values``, SQL over the columns of `_TEXTS`.

    One of the values must meet the condition. ``unknown``: the value of clicks of which only the time is known.
    ``missing``: the values of a request without the text.
    """

    text: str
    values: tuple[str, ...]
    unknown: str = UNKNOWN
    missing: tuple[str, ...] = (UNKNOWN,)


_COUNTRY, _CITY, _WHOLE_CITY, _REGION = (
    f"coalesce(place.{name}, '{UNKNOWN}')" for name in ("country", "city", "whole_city", "region")
)
FILTERS = {
    "country": Filter("place", (_COUNTRY,)),
    "city": Filter("place", (_CITY, _WHOLE_CITY)),
    "region": Filter(
        "place", (_REGION, f"{_COUNTRY} || ' ' || {_REGION}"), missing=(UNKNOWN, f"{UNKNOWN} {UNKNOWN}")
    ),
    "continent": Filter("place", (_COUNTRY,)),
    "device": Filter("client", (f"coalesce(client.device, '{UNKNOWN}')",)),
    "browser": Filter("client", (f"coalesce(client.browser, '{UNKNOWN}')",)),
    "os": Filter("client", (f"coalesce(client.operating_system, '{UNKNOWN}')",)),
    "language": Filter("client", (f"coalesce(client.language, '{UNKNOWN}')",)),
    "referrer": Filter("referrer", (_SITE,), missing=(DIRECT,)),
    CHANNEL: Filter("referrer", (_CHANNEL,), missing=(DIRECT,)),
    "branch": Filter("branch", (f"coalesce(branch.branch, '{NONE}')",), NONE, missing=(NONE,)),
}

_WITHIN = """
t.minute >= %(first_minute)s AND t.minute < %(end_minute)s AND t.kind = ANY(%(read_kinds)s::smallint[])
"""
_READ = """
WITH {chosen}, read AS MATERIALIZED (
    SELECT *, minute / 10080 AS week FROM ({rows} LIMIT %(most)s + 1) rows
), {texts} hit AS MATERIALIZED (
    SELECT read.*, width_bucket(minute, %(minutes)s::integer[]) AS step FROM read WHERE {conditions}
),
"""
# Finds out only of the requests that meet the filters whether they are of the links. So their number, and whether
# clicks are missing, must be known without reading them.
_FILTERED_READ = f"""
WITH asked AS MATERIALIZED (
    SELECT {{requests}} AS requests,
        coalesce((SELECT raw_from > %(touched_first)s FROM analytics_closedday), true) AS may_lack_clicks
), {{texts}} read AS MATERIALIZED (
    SELECT * FROM (SELECT *, minute / 10080 AS week FROM analytics_rawclick t WHERE {_WITHIN}) read
    WHERE {{conditions}} AND (SELECT requests <= %(most)s AND NOT may_lack_clicks FROM asked)
    LIMIT %(most_of_all)s + 1
), hit AS MATERIALIZED (
    SELECT read.*, width_bucket(minute, %(minutes)s::integer[]) AS step FROM read WHERE {{has_link}}
),
"""
_GROUPED = """
imported AS MATERIALIZED ({imported}), grouped AS MATERIALIZED (
    SELECT {grouping.columns}, kind, reason, link_id, step,
        CASE GROUPING(kind) WHEN 0 THEN 'kind' ELSE {grouping.by} END AS by,
        count(*) FILTER (WHERE kind = ANY(%(kinds)s::smallint[])) AS clicks,
        count(*) FILTER (WHERE is_unique AND kind = ANY(%(kinds)s::smallint[])) AS unique_clicks, count(*) AS requests
    FROM hit GROUP BY GROUPING SETS ({grouping.sets}, (week, kind, reason), (link_id), (step))
), timed AS MATERIALIZED (
    SELECT step, link_id, sum(clicks)::bigint AS clicks, 0::bigint AS unique_clicks, sum(imported)::bigint AS imported
    FROM (
        SELECT step, link_id, clicks, 0 AS imported FROM grouped WHERE by IS NULL
        UNION ALL SELECT step, NULL, clicks, clicks FROM imported
        UNION ALL SELECT NULL, link_id, clicks, clicks FROM imported
    ) part GROUP BY step, link_id
),
"""
_NO_IMPORTED = "SELECT 0::bigint AS link_id, 0 AS minute, 0 AS step, 0 AS clicks WHERE false"
# The texts of the requests that were read: many have the same ones.
_FOUND = """
{name} AS MATERIALIZED (
    SELECT * FROM (SELECT DISTINCT week, {name} AS number FROM read) numbers
    LEFT JOIN ({texts}) {name} USING (week, number)
),
"""
# Those of the weeks, if most requests of these weeks are read.
_OF_WEEKS = """
{name} AS MATERIALIZED (
    SELECT * FROM ({texts}) {name} WHERE week BETWEEN %(first_minute)s / 10080 AND %(end_minute)s / 10080
),
"""
_COUNTED = """
counted AS MATERIALIZED (
    SELECT dimension, value COLLATE "C" AS value, sum(clicks)::bigint AS clicks FROM ({parts}) part GROUP BY 1, 2
), listed AS MATERIALIZED ({lists})
"""


class Meeting(NamedTuple):
    """SQL: whether a row of the CTE ``read`` meets the filters, with CTEs for the ``texts`` of these rows."""

    texts: str
    condition: str
    parameters: dict[str, Any]


def meeting_filters(filters: Mapping[str, Condition], *, texts_of: str = _FOUND) -> Meeting:
    """``read`` has the columns of the filters in `analytics.models.RawClick`, and the ``week``."""
    conditions, texts, parameters = ["true"], set(), dict[str, Any]()
    for name, condition in filters.items():
        filtered = FILTERS[name]
        parameters |= condition.values(name)
        # The planner does not know how few texts there are. It would read them again for each request, but hashes the
        # result of a subquery whose value is compared.
        found = f"SELECT week, number FROM {filtered.text} WHERE"
        meets = condition.sql(name, *filtered.values)
        met = f"((week, {filtered.text}) IN ({found} {meets})) IS TRUE"
        if condition.holds(*filtered.missing):
            met = f"((week, {filtered.text}) IN ({found} NOT ({meets}))) IS FALSE"
        if name == CHANNEL:
            met = f"CASE WHEN scanned THEN {condition.holds(QR)} ELSE {met} END"
        conditions.append(met)
        texts.add(filtered.text)
    found_texts = "".join(texts_of.format(name=name, texts=_TEXTS[name]) for name in sorted(texts))
    return Meeting(found_texts, " AND ".join(conditions), parameters)


def from_raw_clicks(
    scope: Scope,
    period: Period,
    steps: Sequence[datetime],
    *,
    filters: Mapping[str, Condition],
    kinds: Sequence[Kind] | None,
    wanted: Wanted,
    filters_first: bool = True,
) -> Statement:
    """``kinds``: the requests to count instead of clicks.

    ``filters_first``: filter the requests of all workspaces, if that works. The row LOST is 1 if it does not, also if
    too many requests of all workspaces meet the filters.
    """
    parameters = parameters_of(scope.rolled(), period, wanted)
    since, until = period.span
    parameters |= {"most": MAX_REQUESTS, "most_of_all": 2 * MAX_REQUESTS}
    parameters |= {"first_minute": minute_of(since), "end_minute": minute_of(until)}
    parameters["minutes"] = [minute_of(step) for step in steps]
    parameters["kinds"] = [Kind.CLICK] if kinds is None else list(kinds)
    parameters["read_kinds"] = list(Kind) if kinds is None else list(kinds)
    are_unknown_in = Kind.CLICK in parameters["kinds"] and all(
        condition.holds(FILTERS[name].unknown) for name, condition in filters.items()
    )
    # The kinds alone would leave out few requests.
    filters_first = filters_first and bool(filters) and scope.rollup is not None and not are_unknown_in
    meeting = meeting_filters(filters, texts_of=_OF_WEEKS if filters_first else _FOUND)
    parameters |= meeting.parameters
    dimensions = dimensions_of(wanted.breakdowns)
    clicks = _sum_of(_totals(scope.rolled(), period)) if Kind.CLICK in parameters["read_kinds"] else "0"
    if filters_first:
        # Those that are no clicks are counted by day.
        others_too = parameters["read_kinds"] != [Kind.CLICK]
        text = _FILTERED_READ.format(
            requests=f"{clicks} + {_sum_of([outcomes_of(scope.rolled())])}" if others_too else clicks,
            texts=meeting.texts,
            conditions=meeting.condition,
            has_link=scope.has_link_of("read"),
        )
        lost = "(may_lack_clicks OR (SELECT count(*) FROM read) > %(most_of_all)s)"
        others = [
            f"SELECT {Row.READ}, '', requests, 0 FROM asked",
            f"SELECT {Row.LOST}, '', {lost}::integer, 0 FROM asked",
        ]
    else:
        columns = "minute client place referrer reason branch kind scanned is_unique"
        text = _READ.format(
            chosen=scope.chosen,
            rows=scope.rows("analytics_rawclick", columns, _WITHIN),
            texts=meeting.texts,
            conditions=meeting.condition,
        )
        others = [f"SELECT {Row.READ}, '', count(*), 0 FROM read"]
        if Kind.CLICK in parameters["read_kinds"]:
            others.append(
                f"SELECT {Row.LOST}, '', {clicks} - (SELECT count(*) FROM read WHERE kind = {Kind.CLICK}), 0"
            )
    text += _GROUPED.format(
        grouping=grouping_for(dimensions, *(["referrer"] if wanted.by_channel else [])),
        imported=_imported(scope) if are_unknown_in else _NO_IMPORTED,
    )
    text += _COUNTED.format(parts=" UNION ALL ".join(_parts(dimensions)), lists=lists(wanted.breakdowns))
    others.append(f"SELECT {Row.IMPORTED}, '', coalesce(sum(clicks), 0)::bigint, 0 FROM imported")
    heat = (
        "SELECT to_timestamp(minute * 60::bigint) AS start, 1 AS clicks, 0 AS unique_clicks FROM hit"
        " WHERE kind = ANY(%(kinds)s::smallint[])"
        " UNION ALL SELECT to_timestamp(minute * 60::bigint), clicks, 0 FROM imported"
    )
    if wanted.by_channel:
        others.append(_channels())
    day = DAY_OF_MINUTE.format(minute="minute")
    days = (
        f"SELECT link_id, {day} AS day, 1 AS clicks, 0 AS unique_clicks FROM hit"
        f" WHERE kind = ANY(%(kinds)s::smallint[]) UNION ALL SELECT link_id, {day}, clicks, 0 FROM imported"
    )
    return Statement(text + final_parts(scope, wanted, heat, days, *others), parameters)


def _sum_of(queries: Sequence[str]) -> str:
    return " + ".join(f"(SELECT coalesce(sum(clicks), 0)::bigint FROM ({query}) p)" for query in queries)


def _totals(scope: Scope, period: Period) -> list[str]:
    """Queries for the clicks of the period, as the roll-ups count them, without imported ones."""
    days = f"t.day BETWEEN %(whole_first)s AND %(whole_last)s AND t.slot <> {IMPORTED}"
    totals = [scope.rows("analytics_daytotal", "clicks", days)]
    for number in range(len(period.edges)):
        condition = f"{in_edge(number)} AND t.slot <> {IMPORTED}"
        totals.append(scope.rows("analytics_quartertotal", "clicks", condition))
    return totals


def _imported(scope: Scope) -> str:
    # Imported clicks have the time of noon.
    days = scope.rows(
        "analytics_daytotal",
        "day clicks",
        f"t.slot = {IMPORTED} AND t.day BETWEEN %(touched_first)s AND %(touched_last)s",
    )
    noon = "((day - date '1970-01-01') * 1440 + 720)"
    return f"""
    SELECT link_id, {noon} AS minute, width_bucket({noon}, %(minutes)s::integer[]) AS step, clicks FROM ({days}) d
    WHERE {noon} >= %(first_minute)s AND {noon} < %(end_minute)s
    """


def _parts(dimensions: Collection[int]) -> list[str]:
    parts = value_parts("grouped", dimensions)
    outcome = next(definition for definition in DEFINITIONS if definition.dimension == Dimension.OUTCOME)
    parts.append(f"""
    SELECT {outcome.dimension:d}, {outcome.value}, requests FROM (
        SELECT g.kind, t.text AS reason, g.requests FROM grouped g
        LEFT JOIN analytics_clicktext t ON t.week = g.week AND t.number = g.reason
        WHERE g.by = 'kind' AND g.kind <> {Kind.CLICK}
    ) outcome
    """)
    parts.append(f"""
    SELECT unknown.*, (SELECT sum(clicks) FROM imported) FROM (VALUES {OF_UNKNOWN_CLICKS}) unknown (dimension, value)
    WHERE EXISTS (SELECT FROM imported)
    """)
    return parts


def _channels() -> str:
    channel = f"CASE WHEN scanned THEN '{QR}' ELSE {_CHANNEL} END"
    return f"""
    SELECT {Row.GROUP}, value, sum(clicks)::bigint, 0 FROM (
        SELECT {channel} AS value, clicks FROM grouped g LEFT JOIN ({_TEXTS["referrer"]}) referrer
        ON referrer.week = g.week AND referrer.number = g.referrer WHERE g.by = 'referrer'
        UNION ALL SELECT '{UNKNOWN}', clicks FROM imported
    ) channels GROUP BY 2 HAVING sum(clicks) > 0
    """
