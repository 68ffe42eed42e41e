"""Reports of one link that count only the clicks that meet conditions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from analytics.dimensions import UNKNOWN
from analytics.reports import reads
from analytics.reports.conditions import Condition
from analytics.reports.figures import Wanted
from analytics.reports.groups import groups_of, wanted_for
from analytics.reports.periods import Period, RequestedRange
from analytics.reports.queries import Breakdown
from analytics.reports.reads import Counts, Overview, Value
from analytics.reports.scope import UNSET, Scope, of_link, of_link_with
from analytics.reports.selected import Clicks, Figures, GroupClicks, cut, figures
from links.models import FormerUtm, Link

_BRANCHES = (Breakdown.BRANCH, Breakdown.UNIQUE_BRANCH)
_COMPLETE = (*reads.SUMMED, *_BRANCHES)
# The lists of the parts of a client, in their order, and of the values that `_place` returns.
_CLIENT = {
    "device": Breakdown.DEVICE,
    "os": Breakdown.OPERATING_SYSTEM,
    "browser": Breakdown.BROWSER,
}
_PLACE = {"country": Breakdown.COUNTRY, "whole_region": Breakdown.REGION, "whole_city": Breakdown.CITY}


class Grouped(NamedTuple):
    """``groups`` is None unless they were requested."""

    overview: Overview
    groups: list[GroupClicks] | None = None


def overview(
    link: Link,
    query: RequestedRange,
    clicks: Clicks,
    utm: Mapping[str, Condition],
    *,
    limit: int,
    group: str | None = None,
) -> Grouped:
    """Like `reads.overview`. Raises InvalidFields, too, if the report would not be exact or costs too much."""
    scope = scope_with(link, utm)
    if not clicks and not scope.has_days and group is None:
        return Grouped(reads.overview(link, query, limit))
    wanted = wanted_for(group, [*reads.TOP, *_COMPLETE], _COMPLETE, limit)
    report = figures(scope, _period(link, query), query, clicks, wanted)
    by_branch = reads.branches(link, *(reads.by_name(report.counts[breakdown]) for breakdown in _BRANCHES))
    whole = Overview(
        report.clicks, report.unique_clicks, report.imported, report.steps, report.counts, by_branch
    )
    return Grouped(whole, groups_of(group, report, limit))


def totals(
    link: Link, query: RequestedRange, clicks: Clicks, utm: Mapping[str, Condition]
) -> Overview | Figures:
    """Like `overview`, but without its lists of values and branches."""
    scope = scope_with(link, utm)
    if not clicks and not scope.has_days:
        return reads.totals(link, query)
    wanted = Wanted(reads.SUMMED, reads.SUMMED, limit=0)
    return figures(scope, _period(link, query), query, clicks, wanted)


def agents(
    link: Link, query: RequestedRange, clicks: Clicks, utm: Mapping[str, Condition], limit: int
) -> Counts:
    """Like `reads.agents`; with conditions, with at most ``limit`` values in each list, and the rest in one."""
    if not clicks and not utm:
        return reads.agents(link, query)
    scope = scope_with(link, utm)
    if _are_of(clicks, _CLIENT) and not scope.has_days:
        values = reads.values(link, query, Breakdown.CLIENT)
        parts = ((dict(zip(_CLIENT, value.name.split("\t"), strict=True)), value.clicks) for value in values)
        return _fold(parts, clicks.filters, _CLIENT, limit)
    return figures(scope, _period(link, query), query, clicks, Wanted(reads.AGENTS, (), limit)).counts


def places(
    link: Link, query: RequestedRange, clicks: Clicks, utm: Mapping[str, Condition], limit: int
) -> Counts:
    """Like `reads.places`; with conditions, with at most ``limit`` values in each list, and the rest in one."""
    if not clicks and not utm:
        return reads.places(link, query, limit)
    scope = scope_with(link, utm)
    if _are_of(clicks, {"country", "continent", "region", "city"}) and not scope.has_days:
        values = reads.values(link, query, Breakdown.PLACE)
        parts = ((_place(value.name), value.clicks) for value in values)
        return _fold(parts, clicks.filters, _PLACE, limit)
    return figures(scope, _period(link, query), query, clicks, Wanted(reads.PLACES, (), limit)).counts


def _place(value: str) -> dict[str, str]:
    place, _, region = value.partition("\t")
    country, _, city = place.partition(" ")
    region = region or UNKNOWN
    return {
        "country": country,
        "continent": country,
        "region": region,
        "whole_region": f"{country} {region}",
        "city": city,
        "whole_city": place,
    }


def scope_with(link: Link, utm: Mapping[str, Condition]) -> Scope:
    """The link on the days on which it had these utm parameters; without days if it always had."""
    has_now = all(condition.holds(link.utm.get(key) or UNSET) for key, condition in utm.items())
    if has_now and not (utm and FormerUtm.objects.filter(link_id=link.pk).exists()):
        return of_link(link)
    return of_link_with(link, utm)


def _period(link: Link, query: RequestedRange) -> Period:
    return reads.requested_period(link, query) or reads.life(link, query)


def _are_of(clicks: Clicks, names: Collection[str]) -> bool:
    """Whether the roll-ups can answer: one of their dimensions has the values of all conditions."""
    return clicks.kinds is None and clicks.filters.keys() <= set(names)


def _fold(
    parts: Iterable[tuple[Mapping[str, str], int]],
    filters: Mapping[str, Condition],
    lists: Mapping[str, Breakdown],
    limit: int,
) -> Counts:
    sums: dict[Breakdown, Counter[str]] = {breakdown: Counter() for breakdown in lists.values()}
    for values, clicks in parts:
        if all(_holds(condition, name, values) for name, condition in filters.items()):
            for name, breakdown in lists.items():
                sums[breakdown][values[name]] += clicks
    counts: Counts = defaultdict(list)
    for breakdown, by_value in sums.items():
        counts[breakdown] = cut([Value(*item) for item in by_value.items()], limit)
    return counts


def _holds(condition: Condition, name: str, values: Mapping[str, str]) -> bool:
    whole = values.get(f"whole_{name}")
    return condition.holds(values[name]) if whole is None else condition.holds(values[name], whole)
