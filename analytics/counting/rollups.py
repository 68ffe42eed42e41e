"""Writes a batch of clicks to the tables.

The drainer adds up a batch itself: for each link and day, it reads one row and writes one. Concurrent drainers add to
separate rows of the sums (see `analytics.counting.days`). They still share two kinds of rows: the visitors of
a link, because a unique click must be counted once, and a link's counter. These come late, so that a batch with the
same links waits only for the end of another one. The rows that requests also lock come last: the links' counters and
their owners' totals. Statements lock these rows in the order of their keys, and keep their order: concurrent batches
cannot deadlock.
"""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db import connection

from analytics.counting.closed_days import closed_day
from analytics.counting.day_visitors import add_visitors, date_of
from analytics.counting.days import Day, add_days
from analytics.counting.enrichment import DAY_MICROSECONDS, Facts
from analytics.counting.raw_clicks import ClickTexts, copy_clicks
from analytics.dimensions import NOT_COUNTED, REFUSED_PREFIX, UNKNOWN, UNKNOWN_BRANCH
from analytics.models import Dimension, Kind
from links.clicks import add_clicks, existing_links

_ROWS = ("analytics_rawclick", "analytics_visitorblock")
_SUMS = ("analytics_daytotal", "analytics_busydaycount", "analytics_lifecount", "analytics_monthcount")

# Hosts' clocks differ slightly from the database's. A click this long before the first URL of a branch is one on it.
_CLOCK_SKEW = "interval '1 minute'"
_BRANCHES_OF_NUMBER = (
    "SELECT branch FROM links_route r WHERE r.link_id = click.link_id AND r.number = click.number"
)
_BRANCHES_AT_TIME = f"""
SELECT (
    SELECT branch FROM (
        ({_BRANCHES_OF_NUMBER} AND since <= time ORDER BY since DESC LIMIT 1)
        UNION ALL
        ({_BRANCHES_OF_NUMBER} AND since > time AND since <= time + {_CLOCK_SKEW} ORDER BY since LIMIT 1)
    ) branches LIMIT 1
) FROM (
    SELECT *, 'epoch'::timestamptz + microseconds * interval '1 microsecond' AS time
    FROM unnest(%s::bigint[], %s::smallint[], %s::bigint[]) WITH ORDINALITY
        sent (link_id, number, microseconds, place)
) click ORDER BY place
"""
_ADD_UNKNOWN_CODES = """
INSERT INTO analytics_unknowncode AS t (domain_id, day, hits, slot)
SELECT *, %s FROM unnest(%s::bigint[], %s::date[], %s::bigint[]) ORDER BY 1, 2
ON CONFLICT (domain_id, day, slot) DO UPDATE SET hits = t.hits + EXCLUDED.hits
"""
_OUTCOMES = {Kind[name.upper()]: name for name in NOT_COUNTED}


# The time and the place of the first click of a visitor in the batch: of equal times, the one that comes first in the
# journal.
_First = tuple[int, int]


class _Counted:
    """The sums of a batch."""

    def __init__(self) -> None:
        # By link and day since 1970.
        self.days: defaultdict[tuple[int, int], Day] = defaultdict(Day)
        self.outcomes: Counter[tuple[int, int, str]] = Counter()
        # By day, link and visitor.
        self.visitors: defaultdict[int, defaultdict[int, dict[int, _First]]] = defaultdict(
            lambda: defaultdict(dict)
        )

    def add(self, batch: Sequence[Facts], branches: Mapping[int, uuid.UUID]) -> None:
        """Count requests; ``branches`` by their places in the batch."""
        # Hot path: each look-up of an attribute counts.
        days, visitors, click = self.days, self.visitors, int(Kind.CLICK)
        for place, facts in enumerate(batch):
            time, link_id, kind, _, _, _, _, _, visitor, _, _, keys = facts
            number = time // DAY_MICROSECONDS
            if kind != click:
                self.outcomes[link_id, number, _outcome(facts)] += 1
                continue
            day = days[link_id, number]
            day.add_click(time, keys)
            if place in branches:
                _add_branch(day, Dimension.BRANCH, branches[place])
            if visitor is not None:
                firsts = visitors[number][link_id]
                first = firsts.get(visitor)
                if first is None or time < first[0]:
                    firsts[visitor] = time, place

    def clicks(self) -> Counter[int]:
        """The clicks of each link."""
        clicks: Counter[int] = Counter()
        for (link_id, _), day in self.days.items():
            clicks[link_id] += day.clicks
        return clicks

    def add_visitors(self, branches: Mapping[int, uuid.UUID]) -> set[int]:
        """Add the visitors to the tables, and count their first clicks. Returns the places of those on branches."""
        unique = set()
        for number in sorted(self.visitors):
            for link_id, visitor in add_visitors(number, self.visitors[number]):
                (time, place), day = self.visitors[number][link_id][visitor], self.days[link_id, number]
                day.add_unique(time)
                if place in branches:
                    unique.add(place)
                    _add_branch(day, Dimension.UNIQUE_BRANCH, branches[place])
        return unique


def add_to_tables(batch: Sequence[Facts], slot: int, texts: ClickTexts) -> None:
    """Count requests in every table, in the caller's transaction, and leave out those of deleted links.

    ``slot``: see `analytics.counting.days`. ``texts``: the caller's cache.
    """
    sent = {facts.link_id for facts in batch}
    existing = existing_links(sent)
    if len(existing) < len(sent):
        batch = [facts for facts in batch if facts.link_id in existing]
    if not batch:
        return
    branches = _branches(batch)
    counted = _Counted()
    counted.add(batch, branches)
    if not branches:
        copy_clicks(batch, branches, set(), texts)
    closed = closed_day(min(facts.time for facts in batch) // DAY_MICROSECONDS)
    unique = counted.add_visitors(branches)
    # Only now is it known which clicks on branches are unique.
    if branches:
        copy_clicks(batch, branches, unique, texts)
    add_days(counted.days, counted.outcomes, slot, closed)
    clicks = counted.clicks()
    for facts in batch:
        if facts.counted:
            clicks[facts.link_id] -= facts.kind == Kind.CLICK
    # Locks the counters: from here on, a link can only be deleted after this commit.
    deleted = existing - add_clicks({link_id: clicks[link_id] for link_id in existing})
    if deleted:
        _delete(deleted, slot)


def _delete(links: Collection[int], slot: int) -> None:
    """Delete what the batch has written of links that were deleted meanwhile."""
    with connection.cursor() as cursor:
        for table in _ROWS:
            cursor.execute(f"DELETE FROM {table} WHERE link_id = ANY(%s)", [list(links)])
        # Open batches hold the rows of other slots: waiting could deadlock. Housekeeping deletes the rest.
        for table in _SUMS:
            cursor.execute(f"DELETE FROM {table} WHERE link_id = ANY(%s) AND slot = %s", [list(links), slot])


def _outcome(facts: Facts) -> str:
    """The key of a request that is not a click."""
    name = _OUTCOMES.get(Kind(facts.kind)) or f"{REFUSED_PREFIX}{facts.reason}"
    return f"{Dimension.OUTCOME:d}{name}"


def _branches(batch: Sequence[Facts]) -> dict[int, uuid.UUID]:
    """The branches of those clicks that led to one, by their places in the batch.

    Looks up each branch once: an update of the link that commits meanwhile may change the result of a second look-up.
    """
    routed = [(place, facts) for place, facts in enumerate(batch) if facts.branch_number]
    if not routed:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            _BRANCHES_AT_TIME,
            [
                [facts.link_id for _, facts in routed],
                [facts.branch_number for _, facts in routed],
                [facts.time for _, facts in routed],
            ],
        )
        found = [branch or UNKNOWN_BRANCH for (branch,) in cursor.fetchall()]
    return {place: branch for (place, _), branch in zip(routed, found, strict=True)}


def _add_branch(day: Day, dimension: Dimension, branch: uuid.UUID) -> None:
    key = f"{dimension:d}{UNKNOWN if branch == UNKNOWN_BRANCH else branch}"
    day.counts[key] = day.counts.get(key, 0) + 1


def add_unknown_codes(hits: Iterable[tuple[int, int]], slot: int) -> None:
    """``hits`` are (domain, day since 1970)."""
    counted = Counter(hits)
    if counted:
        with connection.cursor() as cursor:
            cursor.execute(
                _ADD_UNKNOWN_CODES,
                [
                    slot,
                    [domain for domain, _ in counted],
                    [date_of(day) for _, day in counted],
                    list(counted.values()),
                ],
            )
