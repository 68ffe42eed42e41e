"""Which tables the counts of whole days come from. This module does not use the database.

Lifetime counts and months include days that a range leaves out; these are subtracted. All of that concerns closed days
only. A report adds the open days of the range itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

# Costs in days of the link: the lifetime counts have about as many rows as several days, a month as two.
LIFE_COST = 7
MONTH_COST = 2

_DAY = timedelta(days=1)


class Span(NamedTuple):
    """Days, including ``last``, that are added, or subtracted if ``sign`` is -1."""

    sign: int
    first: date
    last: date


@dataclass(frozen=True, slots=True)
class LinkDays:
    """The link's first and last day with a click, its busy months in order, and the last closed day."""

    first: date
    last: date
    months: list[date]
    closed: date

    def cost(self, spans: Iterable[Span]) -> int:
        """The number of closed days in the spans on which the link may have clicks."""
        return sum(
            max(0, (min(span.last, self.last, self.closed) - max(span.first, self.first)).days + 1)
            for span in spans
        )


@dataclass(frozen=True, slots=True)
class Sources:
    """The closed days of a range: ``spans``, the months with this sign and, if ``is_of_life``, the lifetime counts."""

    is_of_life: bool
    months: list[date]
    sign: int
    spans: list[Span]


def source_parameters(sources: Sources, link: LinkDays) -> dict[str, Any]:
    """The parameters of `analytics.reports.queries.whole_days`."""
    parameters: dict[str, Any] = {"closed": link.closed, "months": sources.months}
    for number, span in enumerate(sources.spans):
        parameters |= {f"span_first_{number}": span.first, f"span_last_{number}": span.last}
    return parameters


LIFETIME = Sources(is_of_life=True, months=[], sign=1, spans=[])


def sources(first: date, last: date, link: LinkDays) -> Sources | None:
    """Choose the tables with the fewest rows for the days ``first`` to ``last``. None: read the rows of each day."""
    months, spans = _cover(first, last, link)
    before, after = _cover(date.min, first - _DAY, link), _cover(last + _DAY, date.max, link)
    other_months, other_spans = before[0] + after[0], before[1] + after[1]
    if _cost(months, spans, link) <= LIFE_COST + _cost(other_months, other_spans, link):
        return Sources(is_of_life=False, months=months, sign=1, spans=spans) if months else None
    negative = [Span(-span.sign, span.first, span.last) for span in other_spans]
    return Sources(is_of_life=True, months=other_months, sign=-1, spans=negative)


def _cost(months: list[date], spans: list[Span], link: LinkDays) -> int:
    return MONTH_COST * len(months) + link.cost(spans)


def _cover(first: date, last: date, link: LinkDays) -> tuple[list[date], list[Span]]:
    """Months and spans that add up to the days from ``first`` to ``last``."""
    months: list[date] = []
    spans: list[Span] = []
    start = first
    for month in link.months:
        end = (month + 31 * _DAY).replace(day=1) - _DAY
        if end < first or month > last:
            continue
        # Later days of the month may be closed before the report is read.
        outside = [Span(-1, month, first - _DAY)] if month < first else []
        outside += [Span(-1, last + _DAY, end)] if end > last else []
        inside = Span(1, max(first, month), min(last, end))
        if MONTH_COST + link.cost(outside) < link.cost([inside]):
            months.append(month)
            spans += [Span(1, start, month - _DAY)] if start < month else []
            spans += outside
            start = end + _DAY
    spans += [Span(1, start, last)] if start <= last else []
    return months, spans
