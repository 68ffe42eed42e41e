"""Clicks on all links of a workspace by day (UTC), and on several of its links.

The days of the links are added up when they are read: they belong to the links, which can be moved, deleted and
brought back. So the number of links times days is limited.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.utils import timezone

from accounts.models import Workspace
from analytics.counting.days import IMPORTED
from analytics.reports.periods import RequestedRange
from common.database import fetch
from common.errors import FieldError, InvalidFields
from links.key_limits import condition_of
from links.selectors import LinkRow, link_rows

DEFAULT_DAYS = 30
# Each is a random read of a row.
MAX_LINK_DAYS = 60_000
SPARKLINE_DAYS = 30

_DAY = timedelta(days=1)
_CLICKED = f"""
SELECT count(*) FROM (
    SELECT FROM links_clickcounter WHERE owner_id = %(owner)s AND clicks > 0 LIMIT {MAX_LINK_DAYS + 1}
) c
"""  # noqa: S608 # built from constants
# OFFSET 0 makes the planner look up the days of each link, instead of reading those of all workspaces.
_COUNTED = f"""
WITH counted AS MATERIALIZED (
    SELECT day, n.link_id, sum(t.clicks)::bigint AS clicks, sum(unique_clicks)::bigint AS unique_clicks,
        coalesce(sum(t.clicks) FILTER (WHERE slot = {IMPORTED}), 0)::bigint AS imported
    FROM links_clickcounter n CROSS JOIN LATERAL (
        SELECT day, slot, clicks, unique_clicks FROM analytics_daytotal
        WHERE link_id = n.link_id AND day BETWEEN %(first)s AND %(last)s OFFSET 0
    ) t
    WHERE n.owner_id = %(owner)s AND n.clicks > 0 GROUP BY GROUPING SETS ((day), (n.link_id))
)
SELECT day, clicks, unique_clicks, imported, NULL::bigint, NULL::uuid FROM counted WHERE link_id IS NULL
UNION ALL
SELECT NULL, most.clicks, most.unique_clicks, 0, l.id, l.public_id FROM (
    SELECT * FROM counted WHERE link_id IS NOT NULL AND clicks > 0 ORDER BY clicks DESC, link_id DESC LIMIT %(limit)s
) most JOIN links_link l ON l.id = most.link_id
"""  # noqa: S608 # built from constants
_TOP = "SELECT id, key FROM unnest(%(ids)s::bigint[], %(keys)s::bigint[]) top (id, key)"
_SPARKLINES = """
SELECT l.public_id, t.day, sum(t.clicks)::bigint
FROM links_link l LEFT JOIN analytics_daytotal t ON t.link_id = l.id AND t.day BETWEEN %(first)s AND %(last)s
WHERE l.owner_id = %(owner)s AND l.public_id = ANY(%(ids)s::uuid[])
"""


class _Top(NamedTuple):
    clicks: int
    link_id: int
    public_id: UUID
    unique_clicks: int


class TopLink(NamedTuple):
    """A link with its clicks in the period."""

    link: LinkRow
    clicks: int
    unique_clicks: int


@dataclass(frozen=True, slots=True)
class WorkspaceOverview:
    """``days``: each day of the period with its clicks and its unique clicks."""

    clicks: int
    unique_clicks: int
    imported: int
    days: list[tuple[date, int, int]]
    top: list[TopLink]


def workspace_overview(owner: Workspace, query: RequestedRange, limit: int) -> WorkspaceOverview:
    """Report the links that the workspace has now, by default over DEFAULT_DAYS, with its ``limit`` top links.

    Raises InvalidFields if the dates contradict each other, or leave too much to add up.
    """
    first, last = _days(query)
    _check_size(owner, (last - first).days + 1)
    values = {"owner": owner.pk, "first": first, "last": last, "limit": limit}
    by_day: dict[date, tuple[int, int]] = {}
    top: list[_Top] = []
    imported = 0
    for day, clicks, unique_clicks, imported_clicks, link_id, public_id in fetch(_COUNTED, values):
        if link_id is None:
            by_day[day] = clicks, unique_clicks
            imported += imported_clicks
        else:
            top.append(_Top(clicks, link_id, public_id, unique_clicks))
    days = [first + _DAY * number for number in range((last - first).days + 1)]
    steps = [(day, *by_day.get(day, (0, 0))) for day in days]
    return WorkspaceOverview(
        sum(clicks for _, clicks, _ in steps),
        sum(unique_clicks for _, _, unique_clicks in steps),
        imported,
        steps,
        _top_links(top),
    )


def _top_links(top: list[_Top]) -> list[TopLink]:
    """One query, and none without clicks. Leaves out a link that was deleted after its clicks were read."""
    if not top:
        return []
    values: dict[str, Any] = {
        "ids": [link.link_id for link in top],
        "keys": [link.clicks for link in top],
        "limit": len(top),
        "offset": 0,
    }
    figures = {link.public_id: link for link in top}
    rows = link_rows(_TOP, values, direction="DESC", order="DESC")
    return [TopLink(row, figures[row.public_id].clicks, figures[row.public_id].unique_clicks) for row in rows]


def _days(query: RequestedRange) -> tuple[date, date]:
    now = timezone.now()
    end = query.end or max(now.date(), query.start or date.min)
    start = query.start or end - (DEFAULT_DAYS - 1) * _DAY
    period = RequestedRange(start, end, UTC).period(now, now)
    return period.first, period.last


def _check_size(owner: Workspace, days: int) -> None:
    [[links]] = fetch(_CLICKED, {"owner": owner.pk})
    if links * days <= MAX_LINK_DAYS:
        return
    most = MAX_LINK_DAYS // links
    hint = f"choose at most {most} days." if most else "read the reports of single links."
    message = f"Too many links have clicks to add up {days} days; {hint}"
    raise InvalidFields([FieldError("startDate", "range_too_large", message)])


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
