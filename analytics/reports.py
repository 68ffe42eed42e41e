"""Reads of the roll-ups. Each report is one statement: what it shows adds up, as it is all of one moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from analytics import report_queries as queries
from analytics.models import Dimension
from analytics.periods import Asked, Period
from links.models import Link

_TOP = (Dimension.COUNTRY, Dimension.DEVICE, Dimension.REFERRER)
_AGENTS = (Dimension.DEVICE, Dimension.BROWSER, Dimension.OPERATING_SYSTEM)
_PLACES = (Dimension.COUNTRY, Dimension.CITY)


class Value(NamedTuple):
    """One value of a dimension."""

    name: str
    clicks: int


# The most frequent value of each dimension first.
Counts = defaultdict[Dimension, list[Value]]


@dataclass(frozen=True, slots=True)
class Overview:
    """Each of the ``steps`` is where it begins, in the report's zone, and its clicks."""

    clicks: int
    unique_clicks: int
    steps: list[tuple[datetime, int]]
    counts: Counts


def overview(link: Link, asked: Asked, limit: int) -> Overview:
    """At most ``limit`` values of each dimension. Raises InvalidFields for dates that do not go together."""
    asked_period = _asked_period(link, asked)
    period = asked_period or _life(link, asked)
    steps = period.steps(asked.interval)
    values = _values(asked_period, [*_TOP, Dimension.SOURCE, Dimension.OUTCOME], limited=_TOP, limit=limit)
    totals = _totals(asked_period, steps, by_day=asked.zone is UTC and asked.interval != "hour")
    clicks, unique_clicks = [0] * len(steps), 0
    counts: Counts = defaultdict(list)
    for dimension, name, number, unique in _fetch(link, values, totals):
        if dimension:
            counts[Dimension(dimension)].append(Value(name, number))
        else:
            # A click of an earlier day may have come since the first day was looked up.
            clicks[max(int(name) - 1, 0)] += number
            unique_clicks += unique
    total = sum(clicks)
    if not total and not asked_period:
        return Overview(0, 0, [], counts)
    return Overview(total, unique_clicks, list(zip(steps, clicks, strict=True)), counts)


def agents(link: Link, asked: Asked) -> Counts:
    """Raises InvalidFields for dates that do not go together, as does the next one."""
    return _counts(link, _values(_asked_period(link, asked), _AGENTS))


def places(link: Link, asked: Asked, cities: int) -> Counts:
    limited = [Dimension.CITY]
    return _counts(link, _values(_asked_period(link, asked), _PLACES, limited=limited, limit=cities))


class _Query(NamedTuple):
    text: str
    parameters: dict[str, Any]


def _asked_period(link: Link, asked: Asked) -> Period | None:
    return None if asked.is_everything else asked.period(link.created_at, timezone.now())


def _life(link: Link, asked: Asked) -> Period:
    """From the first day with a click to today."""
    text = queries.FIRST_AND_LAST_DAY if asked.zone is UTC else queries.FIRST_AND_LAST_QUARTER
    found = [each for each in _row(text, {"link": link.pk}) if each is not None]
    today = timezone.now().astimezone(asked.zone).date()
    days = [each.astimezone(asked.zone).date() if isinstance(each, datetime) else each for each in found]
    return Period(min([today, *days]), max([today, *days]), asked.zone)


def _values(
    period: Period | None,
    dimensions: Collection[Dimension],
    *,
    limited: Collection[Dimension] = (),
    limit: int = 0,
) -> _Query:
    parameters: dict[str, Any] = {
        "dimensions": list(dimensions),
        "limited": list(limited),
        "limit": limit,
    }
    if period is None:
        [parameters["closed"]] = _row(queries.CLOSED_DAY)
        return _Query(queries.of_life(dimensions), parameters)
    parameters["whole_first"], parameters["whole_last"] = period.whole_days
    parameters["touched_first"], parameters["touched_last"] = period.touched_days
    for number, edge in enumerate(period.edges):
        parameters |= {f"since_{number}": edge.since, f"until_{number}": edge.until}
    return _Query(queries.of_range(dimensions, len(period.edges)), parameters)


def _totals(period: Period | None, steps: list[datetime], *, by_day: bool) -> _Query:
    since, until = period.span if period else ("-infinity", "infinity")
    if by_day:
        return _Query(
            queries.BY_DAY, {"steps": [step.date() for step in steps], "since": since, "until": until}
        )
    return _Query(queries.BY_QUARTER, {"steps": steps, "since": since, "until": until})


def _counts(link: Link, values: _Query) -> Counts:
    counts: Counts = defaultdict(list)
    for dimension, name, clicks, _ in _fetch(link, values):
        counts[Dimension(dimension)].append(Value(name, clicks))
    return counts


def _row(text: str, parameters: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(text, parameters)
        row: tuple[Any, ...] = cursor.fetchone()
        return row


def _fetch(link: Link, *parts: _Query) -> list[tuple[int, str, int, int]]:
    parameters: dict[str, Any] = {"link": link.pk}
    for part in parts:
        parameters |= part.parameters
    text = queries.ORDERED.format(parts=" UNION ALL ".join(part.text for part in parts))
    with connection.cursor() as cursor:
        cursor.execute(text, parameters)
        rows: list[tuple[int, str, int, int]] = cursor.fetchall()
        return rows
