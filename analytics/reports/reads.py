"""Reports from the roll-ups. Each report is one statement, so all its figures come from one snapshot and add up."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from django.utils import timezone

from analytics.dimensions import UNKNOWN
from analytics.models import Dimension
from analytics.reports import queries
from analytics.reports.periods import Period, RequestedRange
from analytics.reports.queries import Breakdown, dimensions_of
from analytics.reports.sources import LinkDays, Sources, source_parameters, sources
from common.database import fetch, prepared_cursor
from domains.models import Domain
from links.models import Link

# A deleted branch keeps its last name and URL. The branch that was deleted last comes first.
_DELETED = """
SELECT branch, name, url FROM (
    SELECT DISTINCT ON (branch) branch, name, url, since FROM links_route
    WHERE link_id = %s AND branch = ANY(%s) ORDER BY branch, since DESC
) latest ORDER BY since DESC
"""


class Branch(NamedTuple):
    """``url`` is as entered; that of a deleted branch is canonical."""

    id: uuid.UUID
    name: str
    url: str
    clicks: int
    unique_clicks: int


def branches(link: Link, clicks: Mapping[str, int], unique_clicks: Mapping[str, int]) -> list[Branch]:
    """The link's branches, and the deleted branches that have clicks; the most clicked first, then in their order.

    ``clicks`` and ``unique_clicks`` are values of the roll-ups. One query, and none if no deleted branch has clicks.
    """
    current = [(uuid.UUID(entry["_id"]), entry["name"], entry["url"]) for entry in [*link.rules, *link.split]]
    deleted = {uuid.UUID(value) for value in clicks if value != UNKNOWN} - {
        branch for branch, _, _ in current
    }
    report = [
        Branch(branch, name, url, clicks.get(str(branch), 0), unique_clicks.get(str(branch), 0))
        for branch, name, url in [*current, *_deleted(link, deleted)]
    ]
    return sorted(report, key=lambda branch: -branch.clicks)


def _deleted(link: Link, branches: Collection[uuid.UUID]) -> list[tuple[uuid.UUID, str, str]]:
    if not branches:
        return []
    return [(branch, name, url) for branch, name, url in fetch(_DELETED, [link.pk, list(branches)])]


_BY_DATE = """
SELECT each.day::date, coalesce(sum(u.hits), 0)::bigint
FROM generate_series(%(first)s::date, %(last)s::date, interval '1 day') each (day)
LEFT JOIN analytics_unknowncode u ON u.domain_id = %(domain)s AND u.day = each.day::date
GROUP BY 1 ORDER BY 1
"""


def unknown_codes(domain: Domain, period: Period) -> list[tuple[date, int]]:
    """The number of requests for each day (UTC) of the period, including days without any."""
    values = {"domain": domain.pk, "first": period.first, "last": period.last}
    return [(day, hits) for day, hits in fetch(_BY_DATE, values)]


TOP = (Breakdown.COUNTRY, Breakdown.LANGUAGE, Breakdown.DEVICE, Breakdown.REFERRER)
AGENTS = (Breakdown.DEVICE, Breakdown.BROWSER, Breakdown.OPERATING_SYSTEM)
PLACES = (Breakdown.COUNTRY, Breakdown.REGION, Breakdown.CITY)
# Shorter ranges are read day by day.
_LONG_DAYS = 7
_BRANCHES = (Breakdown.BRANCH, Breakdown.UNIQUE_BRANCH)
# The lists of which a report shows only sums.
SUMMED = (Breakdown.SOURCE, Breakdown.OUTCOME)


class Value(NamedTuple):
    """A value in a list of a report, with its clicks. ``is_rest``: of all values that the list leaves out."""

    name: str
    clicks: int
    is_rest: bool = False


def by_name(values: Iterable[Value]) -> dict[str, int]:
    return {value.name: value.clicks for value in values}


# The values of each list, the most frequent first.
Counts = defaultdict[Breakdown, list[Value]]


@dataclass(frozen=True, slots=True)
class Overview:
    """``steps``: the start of each step in the report's time zone, its clicks and its unique clicks.

    ``imported`` is the part of the clicks that another service has counted.
    """

    clicks: int
    unique_clicks: int | None
    imported: int
    steps: list[tuple[datetime, int, int | None]]
    counts: Counts
    branches: list[Branch]


def overview(link: Link, query: RequestedRange, limit: int) -> Overview:
    """Report a link, with ``limit`` values in each list. Raises InvalidFields if the dates contradict each other."""
    return _overview(link, query, [*TOP, *SUMMED, *_BRANCHES], limit)


def totals(link: Link, query: RequestedRange) -> Overview:
    """Like `overview`, but without its lists of values and branches."""
    return _overview(link, query, SUMMED, limit=0)


def _overview(link: Link, query: RequestedRange, breakdowns: Collection[Breakdown], limit: int) -> Overview:
    requested = requested_period(link, query)
    period = requested or life(link, query)
    steps = period.steps(query.interval)
    parts = _values(link, requested, breakdowns, limited=TOP, limit=limit)
    by_day = query.zone is UTC and query.interval != "hour" and period.hours is None
    timed = _totals(requested, steps, by_day=by_day)
    clicks, unique_clicks = [0] * len(steps), [0] * len(steps)
    counts: Counts = defaultdict(list)
    for breakdown, name, number, unique in _fetch(link, parts, timed):
        if breakdown:
            counts[Breakdown(breakdown)].append(Value(name, number))
        else:
            # A click of an earlier day may have been counted after the query for the first day.
            step = max(int(name) - 1, 0)
            clicks[step] += number
            unique_clicks[step] += unique
    by_branch: list[Branch] = []
    if Breakdown.BRANCH in breakdowns:
        by_branch = branches(link, *(by_name(counts[breakdown]) for breakdown in _BRANCHES))
    total = sum(clicks)
    if not total and not requested:
        return Overview(0, 0, 0, [], counts, by_branch)
    by_step: list[tuple[datetime, int, int | None]] = list(zip(steps, clicks, unique_clicks, strict=True))
    return Overview(total, sum(unique_clicks), _imported(link, requested), by_step, counts, by_branch)


def _imported(link: Link, period: Period | None) -> int:
    if not link.counter.imported:
        return 0
    since, until = period.span if period else ("-infinity", "infinity")
    [clicks] = _row(queries.IMPORTED_CLICKS, {"link": link.pk, "since": since, "until": until})
    return int(clicks)


def agents(link: Link, query: RequestedRange) -> Counts:
    """Raises InvalidFields if the dates contradict each other."""
    return _counts(link, _values(link, requested_period(link, query), AGENTS))


def places(link: Link, query: RequestedRange, limit: int) -> Counts:
    """Count the places of visitors, at most ``limit`` regions and cities. Raises InvalidFields if the dates contradict
    each other.
    """
    limited = [Breakdown.REGION, Breakdown.CITY]
    return _counts(link, _values(link, requested_period(link, query), PLACES, limited=limited, limit=limit))


def values(link: Link, query: RequestedRange, breakdown: Breakdown) -> list[Value]:
    """All values of a list. Raises InvalidFields if the dates contradict each other."""
    return _counts(link, _values(link, requested_period(link, query), [breakdown]))[breakdown]


class _Query(NamedTuple):
    text: str
    parameters: dict[str, Any]


def requested_period(link: Link, query: RequestedRange) -> Period | None:
    return None if query.is_everything else query.period(link.created_at, timezone.now())


def life(link: Link, query: RequestedRange) -> Period:
    """Return the days from the first one with a click to today."""
    text = queries.FIRST_AND_LAST_DAY if query.zone is UTC else queries.FIRST_AND_LAST_QUARTER
    bounds = [bound for bound in _row(text, {"link": link.pk}) if bound is not None]
    today = timezone.now().astimezone(query.zone).date()
    days = [bound.astimezone(query.zone).date() if isinstance(bound, datetime) else bound for bound in bounds]
    return Period(min([today, *days]), max([today, *days]), query.zone)


def _values(
    link: Link,
    period: Period | None,
    breakdowns: Collection[Breakdown],
    *,
    limited: Collection[Breakdown] = (),
    limit: int = 0,
) -> _Query:
    parameters: dict[str, Any] = {
        "breakdowns": list(breakdowns),
        "limited": list(limited),
        "limit": limit,
    }
    dimensions = dimensions_of(breakdowns)
    if period is None:
        [parameters["closed"]] = _row(queries.CLOSED_DAY)
        parameters |= {"summed": dimensions, "whole_first": date.min, "whole_last": date.max}
        return _Query(queries.of_life(breakdowns), parameters)
    # Outcomes are counted by touched days.
    parameters["summed"] = [dimension for dimension in dimensions if dimension != Dimension.OUTCOME]
    first, last = period.whole_days
    parameters |= {"whole_first": first, "whole_last": last}
    parameters["touched_first"], parameters["touched_last"] = period.touched_days
    parameters |= queries.edge_parameters(period.edges)
    used, of_sources = chosen_sources(link.pk, first, last)
    return _Query(queries.of_range(breakdowns, len(period.edges), used), parameters | of_sources)


def chosen_sources(link_id: int, first: date, last: date) -> tuple[Sources | None, dict[str, Any]]:
    """Where the values of the days come from, and the parameters of that. None if it is each day."""
    if (last - first).days < _LONG_DAYS:
        return None, {}
    first_click, last_click, months, closed = _row(queries.LINK_DAYS, {"link": link_id})
    if first_click is None:
        return None, {}
    days = LinkDays(first_click, last_click, months, closed)
    used = sources(first, last, days)
    return used, {} if used is None else source_parameters(used, days)


def _totals(period: Period | None, steps: list[datetime], *, by_day: bool) -> _Query:
    since, until = period.span if period else ("-infinity", "infinity")
    if by_day:
        return _Query(
            queries.BY_DAY, {"steps": [step.date() for step in steps], "since": since, "until": until}
        )
    return _Query(queries.BY_QUARTER, {"steps": steps, "since": since, "until": until})


def _counts(link: Link, values: _Query) -> Counts:
    counts: Counts = defaultdict(list)
    for breakdown, name, clicks, _ in _fetch(link, values):
        counts[Breakdown(breakdown)].append(Value(name, clicks))
    return counts


def _row(text: str, parameters: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
    with prepared_cursor() as cursor:
        cursor.execute(text, parameters)
        row: tuple[Any, ...] = cursor.fetchone()
        return row


def _fetch(link: Link, *parts: _Query) -> list[tuple[Any, ...]]:
    parameters: dict[str, Any] = {"link": link.pk}
    for part in parts:
        parameters |= part.parameters
    text = queries.ORDERED.format(parts=" UNION ALL ".join(part.text for part in parts))
    # Not prepared: there are many texts, and the plan depends on the dates.
    return fetch(text, parameters)
