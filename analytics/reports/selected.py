"""Reports of any number of links, and of the clicks that meet conditions.

Without conditions on clicks, the roll-ups have all figures. With conditions, the raw clicks have them. A report is
exact: if it cannot be, or would read too much, it is refused, and says what works.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from analytics.models import Kind
from analytics.reports.conditions import Condition
from analytics.reports.costs import FEWER, ReportTooSlow, admit, expected_rows, fetch_bounded
from analytics.reports.figures import (
    Row,
    Statement,
    Wanted,
    from_rollups,
    link_days,
    parameters_of,
    top_links,
)
from analytics.reports.periods import PartsOfDays, Period, RequestedRange
from analytics.reports.queries import Breakdown, minute_of
from analytics.reports.raw import from_raw_clicks
from analytics.reports.reads import Counts, Value
from analytics.reports.scope import MAX_OF_ALL, NONE, UNSET, Scope
from common.database import fetch
from common.errors import FieldError, InvalidFields

# With more days of links in the period, a report of a large workspace or domain lists no top links.
MAX_RANKED = 400_000
# Most of the links with the most clicks are in a large workspace.
_FIRST_LOOK = 1_000
# What a list calls the values that its limit leaves out.
OTHER = "other"

# Groups of many rows stay in memory. The planner expects few groups, and would sort all rows to find them.
_LIMITS = "SET LOCAL work_mem = '64MB'; SET LOCAL enable_sort = off; SET LOCAL enable_memoize = off"
# To start parallel workers takes longer than what they would do.
_ALONE = "; SET LOCAL max_parallel_workers_per_gather = 0"
_FIRST_AND_LAST = """
SELECT min(first), max(last) FROM ({links}) chosen CROSS JOIN LATERAL (
    SELECT min(day) AS first, max(day) AS last FROM {days} WHERE link_id = chosen.link_id{on_days}
) days
"""
_DAYS_OF_ALL = "SELECT FROM analytics_daytotal WHERE day BETWEEN %(touched_first)s AND %(touched_last)s"
_REQUESTS_OF_ALL = (
    "SELECT FROM analytics_rawclick WHERE minute >= %(first_minute)s AND minute < %(end_minute)s"
)
# Days of a roll-up stay when their links have gone.
_ROLLED_DAYS = "(SELECT link_id, day FROM {days} GROUP BY 1, 2 HAVING sum(clicks) > 0) rolled"
_FIRST_AND_LAST_QUARTER = """
WITH {chosen} SELECT min(start), max(start) FROM (
    SELECT start FROM ({rows}) quarters GROUP BY 1 HAVING sum(clicks) > 0
) counted
"""
_OLDEST = """
WITH {chosen} SELECT min(minute) FROM ({rows}) clicks
"""


Reason = Literal["link_days", "links", "requests", "deleted_requests", "totals", "only_totals"]


class TooLarge(InvalidFields):
    """A report that would not be exact, or would read too much. ``data`` says why, and what would work."""

    def __init__(self, reason: Reason, message: str, **works: int | str) -> None:
        super().__init__([FieldError("startDate", "range_too_large", message)])
        self.data: Mapping[str, Any] = {"reason": reason, **works}


@dataclass(frozen=True, slots=True)
class Clicks:
    """The conditions on clicks by name, and the kinds of requests to count instead of clicks."""

    filters: Mapping[str, Condition] = field(default_factory=dict)
    kinds: Sequence[Kind] | None = None

    def __bool__(self) -> bool:
        return bool(self.filters) or self.kinds is not None


class Top(NamedTuple):
    """A link with many clicks."""

    link_id: int
    public_id: UUID
    clicks: int
    unique_clicks: int | None


class GroupClicks(NamedTuple):
    """``is_rest``: of all groups that the list leaves out. ``is_unset``: of links without the property."""

    value: str
    clicks: int
    unique_clicks: int | None
    is_rest: bool = False
    is_unset: bool = False


@dataclass(frozen=True, slots=True)
class Figures:
    """``unique_clicks`` is None if it is unknown: nobody records which clicks with a property are unique."""

    clicks: int
    unique_clicks: int | None
    imported: int
    steps: list[tuple[datetime, int, int | None]]
    counts: Counts
    top: list[Top]
    groups: list[GroupClicks]


def figures(
    scope: Scope,
    period: Period,
    query: RequestedRange,
    clicks: Clicks,
    wanted: Wanted,
) -> Figures:
    """Report the links of the scope. Raises TooLarge."""
    steps = period.steps(query.interval)
    is_raw = bool(clicks) or wanted.by_channel
    if not is_raw and (wanted.group is None or wanted.group.is_heat):
        scope = scope.rolled()
    # The requests of parts of days are looked for among those of all workspaces.
    has_edges = scope.is_rolled and bool(period.edges)
    with admit(scope.owner, is_costly=is_raw or scope.is_costly or has_edges, is_public=scope.is_public):
        statement, rows = _read(scope, period, query, clicks, wanted, is_raw=is_raw)
    # In the order of the lists: the rest comes last.
    rows.sort(key=lambda row: (row[0], row[1] is None, -row[2], row[1]))
    sums = {number: clicks for number, _, clicks, _ in rows if number in {Row.READ, Row.LOST, Row.IMPORTED}}
    if is_raw:
        _check_raw(sums, scope, statement, query)
    elif sums[Row.READ] > (most := statement.parameters["most"]):
        text = f"The links have more than {most:,} days with clicks to add up; choose"
        if days := most // scope.number if scope.are_few else 0:
            raise TooLarge("link_days", f"{text} at most {days} days, {FEWER}.", limit=most, days=days)
        raise TooLarge("links", f"{text} a shorter range, {FEWER}.", limit=most)
    by_step: dict[int, tuple[int, int]] = {}
    counts: Counts = defaultdict(list)
    listed: list[Top] = []
    groups: list[GroupClicks] = []
    for number, name, total, unique in rows:
        if number == Row.STEP:
            # A click of an earlier day may have been counted after the query for the first day.
            step = max(int(name) - 1, 0)
            before = by_step.get(step, (0, 0))
            by_step[step] = before[0] + total, before[1] + unique
        elif number == Row.TOP_LINK:
            link_id, _, public_id = name.partition(" ")
            listed.append(Top(int(link_id), UUID(public_id), total, None if is_raw else unique))
        elif number == Row.GROUP:
            shown = OTHER if name is None else name or NONE
            groups.append(GroupClicks(shown, total, None if is_raw else unique, name is None, name == UNSET))
        elif number > 0:
            counts[Breakdown(number)].append(Value(OTHER if name is None else name, total, name is None))
    by_time = [by_step.get(step, (0, 0)) for step in range(len(steps))]
    total_clicks = sum(total for total, _ in by_time)
    if scope.is_rolled and wanted.top and total_clicks:
        listed = _top_links(scope, period, wanted.top)
    return Figures(
        total_clicks,
        None if is_raw else sum(unique for _, unique in by_time),
        sums[Row.IMPORTED],
        [
            (step, total, None if is_raw else unique)
            for step, (total, unique) in zip(steps, by_time, strict=True)
        ],
        counts,
        listed,
        groups,
    )


def _read(
    scope: Scope, period: Period, query: RequestedRange, clicks: Clicks, wanted: Wanted, *, is_raw: bool
) -> tuple[Statement, list[tuple[Any, ...]]]:
    steps = period.steps(query.interval)
    if not scope.are_few:
        # With the links themselves: PostgreSQL hashes only as many as fit into memory.
        texts = [scope.links, _DAYS_OF_ALL, *([_REQUESTS_OF_ALL] if is_raw else [])]
        values = parameters_of(scope, period, wanted)
        values["first_minute"], values["end_minute"] = map(minute_of, period.span)
        scope = scope._replace(reads_others=expected_rows(texts, values) <= MAX_OF_ALL)
    if not is_raw:
        by_day = query.zone is UTC and query.interval != "hour" and period.hours is None
        whole = PartsOfDays(period.edges, [], [], sorted({edge.since.date() for edge in period.edges}))
        shorter = period.shorter_edges(timezone.now()) if scope.is_rolled else whole
        for parts in [shorter, whole] if shorter.days else [whole]:
            statement = from_rollups(scope, period, steps, by_day=by_day, wanted=wanted, parts=parts)
            rows = fetch_bounded(*statement, _LIMITS)
            if not _has_lost(rows):
                break
        return statement, rows
    _check_retention(clicks, period)
    for filters_first in [True, False] if scope.rollup else [False]:
        statement = from_raw_clicks(
            scope,
            period,
            steps,
            filters=clicks.filters,
            kinds=clicks.kinds,
            wanted=wanted,
            filters_first=filters_first,
        )
        try:
            rows = fetch_bounded(*statement, _LIMITS)
        except ReportTooSlow:
            if not filters_first:
                raise
            continue
        if not _has_lost(rows):
            break
    return statement, rows


def _has_lost(rows: Sequence[tuple[Any, ...]]) -> bool:
    return any(number == Row.LOST and lost for number, _, lost, _ in rows)


def _top_links(scope: Scope, period: Period, top: int) -> list[Top]:
    """Nothing if there are too many, or that takes too long, because others have many more links."""
    [[number]] = fetch(*link_days(scope, period))
    if number > MAX_RANKED:
        return []
    found: list[tuple[Any, ...]] = []
    with admit(scope.owner, is_costly=True, is_public=scope.is_public), suppress(ReportTooSlow):
        for of in (_FIRST_LOOK, None):
            found = fetch_bounded(*top_links(scope, period, top, of=of), _LIMITS + _ALONE)
            if len(found) == top:
                break
    return [Top(*row) for row in found]


def cut(values: list[Value], limit: int) -> list[Value]:
    """The most frequent values, and the rest of the clicks."""
    ordered = sorted(values, key=lambda value: (-value.clicks, value.name))
    rest = sum(value.clicks for value in ordered[limit:])
    return ordered[:limit] + ([Value(OTHER, rest, is_rest=True)] if rest else [])


def life(scope: Scope, query: RequestedRange) -> Period:
    """The days from the first one with a click to today. Raises TooLarge if there are too many links."""
    today, scope = timezone.now().astimezone(query.zone).date(), scope.rolled()
    of_days = scope.table("analytics_daytotal")
    if scope.is_rolled:
        of_days = _ROLLED_DAYS.format(days=of_days)
    text = _FIRST_AND_LAST.format(links=scope.links, days=of_days, on_days=scope.on_days("day"))
    [bounds] = fetch_bounded(text, scope.values, _LIMITS)
    days = [day for day in bounds if day is not None]
    if days and query.zone is not UTC:
        text = _FIRST_AND_LAST_QUARTER.format(
            chosen=scope.chosen,
            rows=scope.rows("analytics_quartertotal", "start clicks", "t.day = ANY(%(days)s::date[])"),
        )
        [bounds] = fetch_bounded(text, scope.values | {"days": days}, _LIMITS)
        days = [start.astimezone(query.zone).date() for start in bounds]
    return Period(min([today, *days]), max([today, *days]), query.zone)


def _check_retention(clicks: Clicks, period: Period) -> None:
    """Of requests that are no clicks, the roll-ups cannot tell whether some are missing."""
    days = settings.CLICK_RETENTION_DAYS
    if days and clicks.kinds is not None and Kind.CLICK not in clicks.kinds:
        oldest = timezone.now().date() - timedelta(days=days)
        if period.span.since.date() < oldest:
            text = f"With kind, choose a range from {oldest} on: older requests may have been deleted."
            raise TooLarge("deleted_requests", text, since=oldest.isoformat())


def _check_raw(sums: Mapping[int, int], scope: Scope, statement: Statement, query: RequestedRange) -> None:
    most = statement.parameters["most"]
    if sums[Row.READ] > most:
        raise TooLarge(
            "requests",
            f"The range has more than {most:,} requests, the most that a filter can read; choose a shorter"
            f" range, {FEWER}, or no filter.",
            limit=most,
        )
    if sums.get(Row.LOST, 0):
        rows = scope.rows("analytics_rawclick", "minute", "t.minute >= %(first_minute)s")
        [[oldest]] = fetch(_OLDEST.format(chosen=scope.chosen, rows=rows), statement.parameters)
        text = "Some clicks of the range are only left as totals, which have no filters;"
        if oldest is None:
            raise TooLarge("only_totals", f"{text} read it without filters.")
        since = datetime.fromtimestamp(oldest * 60, query.zone).date() + timedelta(1)
        raise TooLarge(
            "totals", f"{text} choose a range from {since} on, or no filter.", since=since.isoformat()
        )
