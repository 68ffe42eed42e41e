"""The lists of a report, and the SQL that derives them from the stored dimensions.

The table ``counted`` has the clicks by stored dimension and value. Values that are not stored get the rest of the
link's clicks, which are those of ``CLIENT``.
"""

# ruff: noqa: S608 # built from constants

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from analytics.dimensions import (
    BROWSER_OF_CLIENT,
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


class _List(NamedTuple):
    """``sql`` selects the columns value and clicks. It reads the clicks of ``dimensions``."""

    sql: str
    dimensions: tuple[Dimension, ...]


def _stored(dimension: Dimension) -> _List:
    return _List(f"SELECT value, clicks FROM counted WHERE dimension = {dimension}", (dimension,))


def _part_of_client(value: str) -> _List:
    return _List(
        f"SELECT {value}, sum(clicks) FROM counted WHERE dimension = {Dimension.CLIENT} GROUP BY 1",
        (Dimension.CLIENT,),
    )


def _with_rest(dimension: Dimension, rest: str) -> _List:
    return _List(
        f"""
        {_stored(dimension).sql}
        UNION ALL
        SELECT '{rest}', sum(CASE dimension WHEN {Dimension.CLIENT} THEN clicks ELSE -clicks END)
        FROM counted WHERE dimension IN ({Dimension.CLIENT}, {dimension})
        """,
        (Dimension.CLIENT, dimension),
    )


_COUNTRIES = _with_rest(Dimension.COUNTRY, UNKNOWN)
# The clicks of a country without those of its cities.
_CITIES = f"""
{_stored(Dimension.CITY).sql}
UNION ALL
SELECT country || ' {UNKNOWN}', sum(clicks) FROM (
    SELECT * FROM ({_COUNTRIES.sql}) countries
    UNION ALL
    SELECT split_part(value, ' ', 1), -clicks FROM counted WHERE dimension = {Dimension.CITY}
) part (country, clicks) GROUP BY 1
"""
_LISTS = {
    Breakdown.COUNTRY: _COUNTRIES,
    Breakdown.CITY: _List(_CITIES, (*_COUNTRIES.dimensions, Dimension.CITY)),
    Breakdown.DEVICE: _part_of_client(DEVICE_OF_CLIENT),
    Breakdown.BROWSER: _part_of_client(BROWSER_OF_CLIENT),
    Breakdown.OPERATING_SYSTEM: _part_of_client(SYSTEM_OF_CLIENT),
    Breakdown.REFERRER: _with_rest(Dimension.REFERRER, DIRECT),
    Breakdown.OUTCOME: _stored(Dimension.OUTCOME),
    Breakdown.SOURCE: _stored(Dimension.SOURCE),
    Breakdown.BRANCH: _stored(Dimension.BRANCH),
    Breakdown.UNIQUE_BRANCH: _stored(Dimension.UNIQUE_BRANCH),
}


def dimensions_of(breakdowns: Iterable[Breakdown]) -> list[Dimension]:
    """The stored dimensions from which these lists are derived."""
    return sorted({dimension for breakdown in breakdowns for dimension in _LISTS[breakdown].dimensions})


def lists(breakdowns: Iterable[Breakdown]) -> str:
    """A query with the columns breakdown, value and clicks. Clicks may be 0."""
    return " UNION ALL ".join(
        f"SELECT {breakdown:d} AS breakdown, value, clicks::bigint FROM ({_LISTS[breakdown].sql}) list (value, clicks)"
        for breakdown in breakdowns
    )
