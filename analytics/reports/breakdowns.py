"""The lists of a report, and the SQL that derives them from the stored dimensions.

The table ``counted`` has the clicks by stored dimension and value. Values that are not stored get the rest of the
link's clicks, which are those of ``CLIENT``.
"""

# ruff: noqa: S608 # built from constants

from __future__ import annotations

from collections.abc import Collection, Iterable
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
    """The values of ``stored``, and those of ``derived``: a query with the columns value and clicks.

    ``derived`` reads the clicks of ``dimensions``, too.
    """

    stored: Dimension | None = None
    derived: str = ""
    dimensions: tuple[Dimension, ...] = ()


def _part_of_client(value: str) -> _List:
    derived = f"SELECT {value}, sum(clicks) FROM counted WHERE dimension = {Dimension.CLIENT} GROUP BY 1"
    return _List(derived=derived, dimensions=(Dimension.CLIENT,))


def _with_rest(stored: Dimension, rest: str) -> _List:
    derived = f"""
        SELECT '{rest}', sum(CASE dimension WHEN {Dimension.CLIENT} THEN clicks ELSE -clicks END)
        FROM counted WHERE dimension IN ({Dimension.CLIENT}, {stored})
    """
    return _List(stored, derived, (Dimension.CLIENT,))


# The clicks of a country without those of its cities.
_UNKNOWN_CITIES = f"""
    SELECT country || ' {UNKNOWN}', sum(clicks) FROM (
        SELECT value, clicks FROM counted WHERE dimension = {Dimension.COUNTRY}
        UNION ALL
        {_with_rest(Dimension.COUNTRY, UNKNOWN).derived}
        UNION ALL
        SELECT split_part(value, ' ', 1), -clicks FROM counted WHERE dimension = {Dimension.CITY}
    ) part (country, clicks) GROUP BY 1
"""
_LISTS = {
    Breakdown.COUNTRY: _with_rest(Dimension.COUNTRY, UNKNOWN),
    Breakdown.CITY: _List(Dimension.CITY, _UNKNOWN_CITIES, (Dimension.CLIENT, Dimension.COUNTRY)),
    Breakdown.DEVICE: _part_of_client(DEVICE_OF_CLIENT),
    Breakdown.BROWSER: _part_of_client(BROWSER_OF_CLIENT),
    Breakdown.OPERATING_SYSTEM: _part_of_client(SYSTEM_OF_CLIENT),
    Breakdown.REFERRER: _with_rest(Dimension.REFERRER, DIRECT),
    Breakdown.OUTCOME: _List(Dimension.OUTCOME),
    Breakdown.SOURCE: _List(Dimension.SOURCE),
    Breakdown.BRANCH: _List(Dimension.BRANCH),
    Breakdown.UNIQUE_BRANCH: _List(Dimension.UNIQUE_BRANCH),
}


def dimensions_of(breakdowns: Iterable[Breakdown]) -> list[Dimension]:
    """The stored dimensions from which these lists are derived."""
    used = [_LISTS[breakdown] for breakdown in breakdowns]
    stored = {one.stored for one in used if one.stored is not None}
    return sorted(stored.union(*(one.dimensions for one in used)))


def lists(breakdowns: Collection[Breakdown]) -> str:
    """A query with the columns breakdown, value and clicks. Clicks may be 0."""
    # One query for all stored values: the planner takes longer for several than it takes to read them.
    names = " ".join(
        f"WHEN {stored} THEN {breakdown:d}"
        for breakdown in breakdowns
        if (stored := _LISTS[breakdown].stored) is not None
    )
    stored_values = (
        [f"SELECT CASE dimension {names} END AS breakdown, value, clicks FROM counted"] if names else []
    )
    return " UNION ALL ".join(
        [
            *stored_values,
            *(
                f"SELECT {breakdown:d} AS breakdown, value, clicks::bigint FROM ({derived}) list (value, clicks)"
                for breakdown in breakdowns
                if (derived := _LISTS[breakdown].derived)
            ),
        ]
    )
