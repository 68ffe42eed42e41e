"""The clicks of tags in a period."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from accounts.models import Workspace
from analytics.reports.figures import Group, Wanted
from analytics.reports.periods import RequestedRange
from analytics.reports.queries import Breakdown
from analytics.reports.scope import of_tags
from analytics.reports.selected import Clicks, GroupClicks, figures, life
from common.errors import FieldError, InvalidFields

# A file, and an order by clicks, read all tags at once.
MAX_TAGS = 10_000

_BY_TAG = Group("tag", "JOIN LATERAL unnest(l.tag_keys) tag ON tag = ANY(%(tags)s::text[])")


class TooManyTags(InvalidFields):
    def __init__(self) -> None:
        message = f"A file, or an order by clicks, has at most {MAX_TAGS:,} tags: send a longer search."
        super().__init__([FieldError("search", "too_many_tags", message)])


def clicks_of_tags(owner: Workspace, keys: Sequence[str], query: RequestedRange) -> dict[str, GroupClicks]:
    """The clicks on the links that have these tags now, by tag: those with several count for each of them.

    Leaves out tags without clicks. Raises InvalidFields if the dates contradict each other, or leave too much to add
    up.
    """
    if not keys:
        return {}
    scope, now = of_tags(owner, keys), timezone.now()
    period = life(scope, query) if query.is_everything else query.period(now, now)
    # A statement has some list.
    wanted = Wanted([Breakdown.SOURCE], (), limit=len(keys), group=_BY_TAG)
    report = figures(scope, period, query, Clicks(), wanted)
    return {group.value: group for group in report.groups}
