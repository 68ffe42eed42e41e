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
    BROWSER_OF_CLIENT,
    CITY_OF_CITY,
    COUNTRY_OF_PLACE,
    DEFINITIONS,
    DEVICE_OF_CLIENT,
    DIRECT,
    LANGUAGE_OF_CLIENT,
    OF_UNKNOWN_CLICKS,
    REGION_OF_CITY,
    SITE,
    SYSTEM_OF_CLIENT,
    UNKNOWN,
    UNKNOWN_BRANCH,
    WHOLE_CITY_OF_CITY,
)
from analytics.models import Dimension, Kind
from analytics.reports.conditions import Condition
from analytics.reports.figures import (
    Row,
    Statement,
    Wanted,
    final_parts,
    parameters_of,
)
from analytics.reports.periods import Period
from analytics.reports.queries import Breakdown, lists
from analytics.reports.scope import NONE, Scope

# A statement reads at most this many requests, or refuses.
MAX_REQUESTS = 1_000_000
CHANNEL = "channel"

_PLACE = (
    f"{WHOLE_CITY_OF_CITY} AS whole_city, {COUNTRY_OF_PLACE} AS country, {CITY_OF_CITY} AS city,"
    f" {REGION_OF_CITY} AS region"
)
_CLIENT = (
    f"{DEVICE_OF_CLIENT} AS device, {SYSTEM_OF_CLIENT} AS operating_system, {BROWSER_OF_CLIENT} AS browser,"
    f" {LANGUAGE_OF_CLIENT} AS language"
)
_VALUES = "SELECT week, number, text AS value FROM analytics_clicktext"
# The texts of each column with numbers, and the values of these texts.
_TEXTS = {
    "place": f"SELECT week, number, {_PLACE} FROM ({_VALUES}) t",
    "client": f"SELECT week, number, {_CLIENT} FROM ({_VALUES}) t",
    # Decides about the channel once for each text, not for each request.
    "referrer": f"SELECT week, number, site, {channel_in_sql('site')} AS channel FROM ("
    f"SELECT week, number, {SITE} AS site FROM ("
    "SELECT week, number, text AS referrer FROM analytics_clicktext) t) t",
    "branch": f"SELECT week, number, CASE value WHEN '{UNKNOWN_BRANCH}' THEN '{UNKNOWN}' ELSE value END AS branch"
    f" FROM ({_VALUES}) t",
}
_SITE = f"coalesce(referrer.site, '{DIRECT}')"
_CHANNEL = f"coalesce(referrer.channel, '{DIRECT}')"


class Filter(NamedTuple):
    """``text``: the column with the number of the text that has the ``values``, SQL over the columns of `_TEXTS`.

    One of the values must meet the condition. ``unknown``: the value of clicks of which only the time is known.
    """

    text: str
    values: tuple[str, ...]
    unknown: str = UNKNOWN


_COUNTRY, _CITY, _WHOLE_CITY, _REGION = (
    f"coalesce(place.{name}, '{UNKNOWN}')" for name in ("country", "city", "whole_city", "region")
)
FILTERS = {
    "country": Filter("place", (_COUNTRY,)),
    "city": Filter("place", (_CITY, _WHOLE_CITY)),
    "region": Filter("place", (_REGION, f"{_COUNTRY} || ' ' || {_REGION}")),
    "continent": Filter("place", (_COUNTRY,)),
    "device": Filter("client", (f"coalesce(client.device, '{UNKNOWN}')",)),
    "browser": Filter("client", (f"coalesce(client.browser, '{UNKNOWN}')",)),
    "os": Filter("client", (f"coalesce(client.operating_system, '{UNKNOWN}')",)),
    "language": Filter("client", (f"coalesce(client.language, '{UNKNOWN}')",)),
    "referrer": Filter("referrer", (_SITE,)),
    CHANNEL: Filter("referrer", (_CHANNEL,)),
    "branch": Filter("branch", (f"coalesce(branch.branch, '{NONE}')",), NONE),
}

_READ = """
WITH {chosen}, read AS MATERIALIZED (
    SELECT *, minute / 10080 AS week FROM ({rows} LIMIT %(most)s + 1) rows
), {texts} hit AS MATERIALIZED (
    SELECT read.*, width_bucket(minute, %(minutes)s::integer[]) AS step FROM read WHERE {conditions}
), imported AS MATERIALIZED ({imported}), grouped AS MATERIALIZED (
    SELECT week, client, place, referrer, scanned, branch, kind, reason, link_id, step, CASE
            WHEN GROUPING(client) = 0 THEN 'client' WHEN GROUPING(place) = 0 THEN 'place'
            WHEN GROUPING(referrer) = 0 THEN 'referrer' WHEN GROUPING(branch) = 0 THEN 'branch'
            WHEN GROUPING(kind) = 0 THEN 'kind' END AS by,
        count(*) FILTER (WHERE kind = ANY(%(kinds)s::smallint[])) AS clicks,
        count(*) FILTER (WHERE is_unique AND kind = ANY(%(kinds)s::smallint[])) AS unique_clicks, count(*) AS requests
    FROM hit GROUP BY GROUPING SETS (
        (week, client), (week, place), (week, referrer, scanned), (week, branch), (week, kind, reason), (link_id),
        (step)
    )
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
# Where the values of each dimension come from.
_SOURCES = {
    Dimension.COUNTRY: "place",
    Dimension.CITY: "place",
    Dimension.CLIENT: "client",
    Dimension.REFERRER: "referrer",
    Dimension.SOURCE: "referrer",
    Dimension.BRANCH: "branch",
    Dimension.UNIQUE_BRANCH: "branch",
}
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


def meeting_filters(filters: Mapping[str, Condition]) -> Meeting:
    """``read`` has the columns of the filters in `analytics.models.RawClick`, and the ``week``."""
    conditions, texts, parameters = ["true"], set(), dict[str, Any]()
    for name, condition in filters.items():
        filtered = FILTERS[name]
        parameters |= condition.values(name)
        # The planner does not know how few texts there are. It would read them again for each request, but hashes the
        # result of a subquery whose value is compared.
        found = f"SELECT week, number FROM {filtered.text} WHERE {condition.sql(name, *filtered.values)}"
        met = f"((week, {filtered.text}) IN ({found})) IS TRUE"
        if name == CHANNEL:
            met = f"CASE WHEN scanned THEN {condition.holds(QR)} ELSE {met} END"
        conditions.append(met)
        texts.add(filtered.text)
    found_texts = "".join(_FOUND.format(name=name, texts=_TEXTS[name]) for name in sorted(texts))
    return Meeting(found_texts, " AND ".join(conditions), parameters)


def from_raw_clicks(
    scope: Scope,
    period: Period,
    steps: Sequence[datetime],
    *,
    filters: Mapping[str, Condition],
    kinds: Sequence[Kind] | None,
    wanted: Wanted,
) -> Statement:
    """``kinds``: the requests to count instead of clicks."""
    parameters = parameters_of(scope.rolled(), period, wanted)
    since, until = period.span
    parameters["most"] = MAX_REQUESTS
    parameters |= {"first_minute": _minute(since), "end_minute": _minute(until)}
    parameters["minutes"] = [_minute(step) for step in steps]
    parameters["kinds"] = [Kind.CLICK] if kinds is None else list(kinds)
    parameters["read_kinds"] = list(Kind) if kinds is None else list(kinds)
    meeting = meeting_filters(filters)
    parameters |= meeting.parameters
    are_unknown_in = Kind.CLICK in parameters["kinds"] and all(
        condition.holds(FILTERS[name].unknown) for name, condition in filters.items()
    )
    rows = scope.rows(
        "analytics_rawclick",
        "minute client place referrer reason branch kind scanned is_unique",
        "t.minute >= %(first_minute)s AND t.minute < %(end_minute)s AND t.kind = ANY(%(read_kinds)s::smallint[])",
    )
    text = _READ.format(
        chosen=scope.chosen,
        rows=rows,
        texts=meeting.texts,
        conditions=meeting.condition,
        imported=_imported(scope) if are_unknown_in else _NO_IMPORTED,
    )
    text += _COUNTED.format(parts=" UNION ALL ".join(_parts()), lists=_lists(wanted.breakdowns))
    others = [
        f"SELECT {Row.READ}, '', count(*), 0 FROM read",
        f"SELECT {Row.IMPORTED}, '', coalesce(sum(clicks), 0)::bigint, 0 FROM imported",
    ]
    if Kind.CLICK in parameters["read_kinds"]:
        clicks = " + ".join(
            f"(SELECT coalesce(sum(clicks), 0)::bigint FROM ({part}) p)"
            for part in _totals(scope.rolled(), period)
        )
        others.append(
            f"SELECT {Row.LOST}, '', {clicks} - (SELECT count(*) FROM read WHERE kind = {Kind.CLICK}), 0"
        )
    heat = (
        "SELECT to_timestamp(minute * 60::bigint) AS start, 1 AS clicks, 0 AS unique_clicks FROM hit"
        " WHERE kind = ANY(%(kinds)s::smallint[])"
        " UNION ALL SELECT to_timestamp(minute * 60::bigint), clicks, 0 FROM imported"
    )
    if wanted.by_channel:
        others.append(_channels())
    return Statement(text + final_parts(wanted, heat, *others), parameters)


def _totals(scope: Scope, period: Period) -> list[str]:
    """Queries for the clicks of the period, as the roll-ups count them, without imported ones."""
    days = f"t.day BETWEEN %(whole_first)s AND %(whole_last)s AND t.slot <> {IMPORTED}"
    totals = [scope.rows("analytics_daytotal", "clicks", days)]
    for number in range(len(period.edges)):
        since, until = f"%(since_{number})s::timestamptz", f"%(until_{number})s::timestamptz"
        days = f"t.day BETWEEN ({since} AT TIME ZONE 'UTC')::date AND ({until} AT TIME ZONE 'UTC')::date"
        condition = f"{days} AND t.start >= {since} AND t.start < {until} AND t.slot <> {IMPORTED}"
        totals.append(scope.rows("analytics_quartertotal", "clicks", condition))
    return totals


def _minute(moment: datetime) -> int:
    return int(moment.timestamp()) // 60


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


def _parts() -> list[str]:
    parts = []
    for definition in DEFINITIONS:
        source = _SOURCES.get(definition.dimension)
        if source is None:
            continue
        clicks = "unique_clicks" if definition.dimension == Dimension.UNIQUE_BRANCH else "clicks"
        columns = {
            # The client has the language, see `_lists`.
            "place": f"{_PLACE}, '{UNKNOWN}' AS language",
            "client": f"value AS client, {_CLIENT}",
            "referrer": "coalesce(value, '') AS referrer",
            # Of both tables, so that the planner converts no other text. The unique clicks are counted already.
            "branch": "CASE WHEN g.branch <> 0 THEN value::uuid END AS branch, true AS is_unique",
        }[source]
        parts.append(f"""
        SELECT {definition.dimension:d} AS dimension, {definition.value} AS value, clicks FROM (
            SELECT {columns}, g.scanned, g.{clicks} AS clicks FROM grouped g
            LEFT JOIN ({_VALUES}) t
            ON t.week = g.week AND t.number = g.{source} WHERE g.by = '{source}'
        ) texts WHERE {definition.condition or "true"}
        """)
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


def _lists(breakdowns: Collection[Breakdown]) -> str:
    """Like `lists`. Raw clicks have the language with the client, where roll-ups have it with the country."""
    others = [breakdown for breakdown in breakdowns if breakdown != Breakdown.LANGUAGE]
    queries = [lists(others)] if others else []
    if Breakdown.LANGUAGE in breakdowns:
        queries.append(f"""
        SELECT {Breakdown.LANGUAGE:d}, value, sum(clicks)::bigint FROM (
            SELECT coalesce(client.language, '{UNKNOWN}') AS value, clicks FROM grouped g
            LEFT JOIN ({_TEXTS["client"]}) client ON client.week = g.week AND client.number = g.client
            WHERE g.by = 'client'
            UNION ALL SELECT '{UNKNOWN}', clicks FROM imported
        ) languages GROUP BY 2
        """)
    return " UNION ALL ".join(queries)


def _channels() -> str:
    channel = f"CASE WHEN scanned THEN '{QR}' ELSE {_CHANNEL} END"
    return f"""
    SELECT {Row.GROUP}, value, sum(clicks)::bigint, 0 FROM (
        SELECT {channel} AS value, clicks FROM grouped g LEFT JOIN ({_TEXTS["referrer"]}) referrer
        ON referrer.week = g.week AND referrer.number = g.referrer WHERE g.by = 'referrer'
        UNION ALL SELECT '{UNKNOWN}', clicks FROM imported
    ) channels GROUP BY 2 HAVING sum(clicks) > 0
    """
