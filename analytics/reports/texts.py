"""The values of raw clicks, which are counted by the numbers of their texts: each text is looked up once.

A statement groups its clicks in a CTE with the columns ``week``, ``by``, ``clicks`` and ``unique_clicks``. ``by`` is
the column by which a row's clicks are grouped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from analytics.dimensions import (
    BROWSER_OF_CLIENT,
    CITY_OF_CITY,
    COUNTRY_OF_PLACE,
    DEFINITIONS,
    DEVICE_OF_CLIENT,
    LANGUAGE_OF_CLIENT,
    REGION_OF_CITY,
    SYSTEM_OF_CLIENT,
    UNKNOWN,
    WHOLE_CITY_OF_CITY,
)
from analytics.models import Dimension

# A dimension of statements only: raw clicks have the language with the client, roll-ups with the country.
LANGUAGE = 0

VALUES = "SELECT week, number, text AS value FROM analytics_clicktext"
PLACE = (
    f"{WHOLE_CITY_OF_CITY} AS whole_city, {COUNTRY_OF_PLACE} AS country, {CITY_OF_CITY} AS city,"
    f" {REGION_OF_CITY} AS region"
)
CLIENT = (
    f"{DEVICE_OF_CLIENT} AS device, {SYSTEM_OF_CLIENT} AS operating_system, {BROWSER_OF_CLIENT} AS browser,"
    f" {LANGUAGE_OF_CLIENT} AS language"
)
# The columns of a request that each text has, as the definitions of dimensions use them.
_COLUMNS = {
    "place": f"{PLACE}, '{UNKNOWN}' AS language",
    "client": CLIENT,
    "referrer": "coalesce(value, '') AS referrer, g.scanned",
    # The unique clicks are counted already.
    "branch": "CASE WHEN g.branch <> 0 THEN value::uuid END AS branch, true AS is_unique",
}
_BY_DIMENSION = {
    Dimension.COUNTRY: "place",
    Dimension.CITY: "place",
    Dimension.CLIENT: "client",
    Dimension.REFERRER: "referrer",
    Dimension.SOURCE: "referrer",
    Dimension.BRANCH: "branch",
    Dimension.UNIQUE_BRANCH: "branch",
}
_SETS = {
    "place": "(week, place)",
    "client": "(week, client)",
    "referrer": "(week, referrer, scanned)",
    "branch": "(week, branch)",
}
# OFFSET 0 makes the planner look up each text, instead of reading those of all weeks. The expressions are not in
# VALUES, which would prepare them again for each text.
_PART = """
SELECT dimension, CASE dimension {values} END AS value, CASE dimension {clicks} END AS clicks FROM (
    SELECT {columns}, g.clicks, g.unique_clicks FROM {grouped} g LEFT JOIN LATERAL (
        SELECT text AS value FROM analytics_clicktext t WHERE t.week = g.week AND t.number = g.{by} OFFSET 0
    ) t ON true WHERE g.by = '{by}'
) texts CROSS JOIN (VALUES {dimensions}) stored (dimension) WHERE CASE dimension {conditions} END
"""


class _Stored(NamedTuple):
    """SQL over the columns of a text: what is stored of a dimension, of how many clicks, on which condition."""

    dimension: int
    value: str
    clicks: str = "clicks"
    condition: str = "true"


class Grouping(NamedTuple):
    """SQL: the columns and the value of ``by`` in a query with these grouping sets."""

    columns: str
    by: str
    sets: str


def grouping_for(dimensions: Collection[int], *others: str) -> Grouping:
    """Group clicks for `value_parts` with these dimensions, and by other columns. That of clients has every click."""
    used = {_BY_DIMENSION[Dimension(number)] for number in dimensions if number in _BY_DIMENSION}
    names = sorted({"client", *used, *others})
    columns = ["week", *names, *(["scanned"] if "referrer" in names else [])]
    cases = " ".join(f"WHEN GROUPING({name}) = 0 THEN '{name}'" for name in names)
    return Grouping(", ".join(columns), f"CASE {cases} END", ", ".join(_SETS[name] for name in names))


def value_parts(grouped: str, dimensions: Collection[int]) -> list[str]:
    """Queries for the clicks by dimension and stored value, from the clicks in the CTE ``grouped``."""
    stored: dict[str, list[_Stored]] = {}
    for definition in DEFINITIONS:
        by = _BY_DIMENSION.get(definition.dimension)
        if by is not None and definition.dimension in dimensions:
            clicks = "unique_clicks" if definition.dimension == Dimension.UNIQUE_BRANCH else "clicks"
            condition = definition.condition or "true"
            stored.setdefault(by, []).append(
                _Stored(definition.dimension, definition.value, clicks, condition)
            )
    if LANGUAGE in dimensions:
        language = _Stored(LANGUAGE, "language", condition=f"language <> '{UNKNOWN}'")
        stored.setdefault("client", []).append(language)
    return [_part(grouped, by, parts) for by, parts in stored.items()]


def _part(grouped: str, by: str, parts: Collection[_Stored]) -> str:
    def cases(results: Iterable[str]) -> str:
        return " ".join(
            f"WHEN {part.dimension:d} THEN {result}" for part, result in zip(parts, results, strict=True)
        )

    return _PART.format(
        grouped=grouped,
        by=by,
        columns=_COLUMNS[by],
        dimensions=", ".join(f"({part.dimension:d})" for part in parts),
        values=cases(part.value for part in parts),
        clicks=cases(part.clicks for part in parts),
        conditions=cases(part.condition for part in parts),
    )
