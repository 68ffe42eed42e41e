"""Clicks on the links of a workspace, all or some of them, and sparklines.

The days of the links are added up when they are read: they belong to the links, which can be moved, deleted and
brought back. So the number of days of links is limited; see `analytics.reports.figures`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.utils import timezone

from accounts.models import Workspace
from analytics.reports.figures import Wanted
from analytics.reports.groups import groups_of, wanted_for
from analytics.reports.periods import RequestedRange
from analytics.reports.queries import Breakdown
from analytics.reports.reads import SUMMED
from analytics.reports.scope import Selection, of_workspace
from analytics.reports.selected import Clicks, Figures, GroupClicks, figures, life
from common.database import fetch
from links.key_limits import condition_of
from links.selectors import LinkRow, link_rows

SPARKLINE_DAYS = 30

_DAY = timedelta(days=1)
_LISTS = (
    Breakdown.COUNTRY,
    Breakdown.REGION,
    Breakdown.CITY,
    Breakdown.DEVICE,
    Breakdown.BROWSER,
    Breakdown.OPERATING_SYSTEM,
    Breakdown.LANGUAGE,
    Breakdown.REFERRER,
)
_TOP = "SELECT id, key FROM unnest(%(ids)s::bigint[], %(keys)s::bigint[]) top (id, key)"
_SPARKLINES = """
SELECT l.public_id, t.day, sum(t.clicks)::bigint
FROM links_link l LEFT JOIN analytics_daytotal t ON t.link_id = l.id AND t.day BETWEEN %(first)s AND %(last)s
WHERE l.owner_id = %(owner)s AND l.public_id = ANY(%(ids)s::uuid[])
"""


class TopLink(NamedTuple):
    """A link with its clicks in the period."""

    link: LinkRow
    clicks: int
    unique_clicks: int | None


@dataclass(frozen=True, slots=True)
class WorkspaceOverview:
    """``groups`` is None unless they were requested."""

    figures: Figures
    top: list[TopLink]
    groups: list[GroupClicks] | None = None


def workspace_overview(
    owner: Workspace,
    query: RequestedRange,
    selection: Selection,
    clicks: Clicks,
    *,
    limit: int,
    group: str | None = None,
    is_public: bool = False,
) -> WorkspaceOverview:
    """Report the selected links that the workspace has now, with ``limit`` top links and values in each list.

    ``is_public``: for readers of a shared report, who do not use up what the workspace may read at once.

    Raises NotFound for a domain that the caller does not have. Raises InvalidFields if the dates contradict each
    other, or leave too much to add up.
    """
    wanted = wanted_for(group, [*_LISTS, *SUMMED], SUMMED, limit, top=limit)
    report = _figures(owner, query, selection, clicks, wanted, is_public=is_public)
    return WorkspaceOverview(report, _top_links(report), groups_of(group, report, limit))


def workspace_totals(
    owner: Workspace, query: RequestedRange, selection: Selection, clicks: Clicks
) -> Figures:
    """Like the figures of `workspace_overview`, but without its lists of values and links."""
    return _figures(owner, query, selection, clicks, Wanted(SUMMED, SUMMED, limit=0))


def _figures(
    owner: Workspace,
    query: RequestedRange,
    selection: Selection,
    clicks: Clicks,
    wanted: Wanted,
    *,
    is_public: bool = False,
) -> Figures:
    scope = of_workspace(owner, selection)._replace(is_public=is_public)
    now = timezone.now()
    period = life(scope, query) if query.is_everything else query.period(now, now)
    return figures(scope, period, query, clicks, wanted)


def _top_links(report: Figures) -> list[TopLink]:
    """One query, and none without clicks. Leaves out a link that was deleted after its clicks were read."""
    if not report.top:
        return []
    values: dict[str, Any] = {
        "ids": [link.link_id for link in report.top],
        "keys": [link.clicks for link in report.top],
        "limit": len(report.top),
        "offset": 0,
    }
    by_id = {link.public_id: link for link in report.top}
    rows = link_rows(_TOP, values, direction="DESC", order="DESC")
    return [TopLink(row, by_id[row.public_id].clicks, by_id[row.public_id].unique_clicks) for row in rows]


def sparklines(owner: Workspace, ids: Collection[UUID]) -> tuple[date, dict[UUID, list[int]]]:
    """The first of the last SPARKLINE_DAYS days, and the clicks of each link on each of them.

    Leaves out ids that are not of links within the limits of the key. One query.
    """
    last = datetime.now(UTC).date()
    first = last - (SPARKLINE_DAYS - 1) * _DAY
    condition, limits = condition_of(owner.key)
    values = {**limits, "owner": owner.pk, "ids": list(ids), "first": first, "last": last}
    lines: dict[UUID, list[int]] = {}
    for public_id, day, clicks in fetch(f"{_SPARKLINES}{condition} GROUP BY 1, 2", values):
        line = lines.setdefault(public_id, [0] * SPARKLINE_DAYS)
        if day is not None:
            line[(day - first).days] = clicks
    return first, lines
