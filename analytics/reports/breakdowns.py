"""The lists of a report, and how the stored dimensions add up to them.

A value that is not stored has the rest of the clicks: those of ``CLIENT``, which has all, minus the stored ones.
"""

# ruff: noqa: S608 # built from constants

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import IntEnum
from typing import NamedTuple

from analytics.dimensions import (
    BROWSER_OF_CLIENT,
    COUNTRY_OF_CITY,
    DEVICE_OF_CLIENT,
    DIRECT,
    SYSTEM_OF_CLIENT,
    UNKNOWN,
)
from analytics.models import Dimension


class Breakdown(IntEnum):
    """What a report lists."""

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


def _with_rest(stored: Dimension, rest: str) -> tuple[_Part, ...]:
    return (_Part(stored), _Part(Dimension.CLIENT, f"'{rest}'"), _Part(stored, f"'{rest}'", -1))


_CITY_UNKNOWN = f"{COUNTRY_OF_CITY} || ' {UNKNOWN}'"
_NOWHERE = f"'{UNKNOWN} {UNKNOWN}'"
_LISTS = {
    Breakdown.COUNTRY: _with_rest(Dimension.COUNTRY, UNKNOWN),
    # The unknown city of a country has the country's clicks without those of its known cities.
    Breakdown.CITY: (
        _Part(Dimension.CITY),
        _Part(Dimension.COUNTRY, _CITY_UNKNOWN),
        _Part(Dimension.CITY, _CITY_UNKNOWN, -1),
        _Part(Dimension.CLIENT, _NOWHERE),
        _Part(Dimension.COUNTRY, _NOWHERE, -1),
    ),
    Breakdown.DEVICE: (_Part(Dimension.CLIENT, DEVICE_OF_CLIENT),),
    Breakdown.BROWSER: (_Part(Dimension.CLIENT, BROWSER_OF_CLIENT),),
    Breakdown.OPERATING_SYSTEM: (_Part(Dimension.CLIENT, SYSTEM_OF_CLIENT),),
    Breakdown.REFERRER: _with_rest(Dimension.REFERRER, DIRECT),
    Breakdown.OUTCOME: (_Part(Dimension.OUTCOME),),
    Breakdown.SOURCE: (_Part(Dimension.SOURCE),),
    Breakdown.BRANCH: (_Part(Dimension.BRANCH),),
    Breakdown.UNIQUE_BRANCH: (_Part(Dimension.UNIQUE_BRANCH),),
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
