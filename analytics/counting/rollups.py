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
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db import connection

from analytics.counting.click_events import click_listeners, emit_clicks, next_click_ids
from analytics.counting.closed_days import closed_day
from analytics.counting.day_visitors import add_visitors
from analytics.counting.days import Day, OneClick, add_days
from analytics.counting.enrichment import DAY_MICROSECONDS, Facts
from analytics.counting.raw_clicks import ClickTexts, copy_clicks
from analytics.counting.summed_links import add_batch
from analytics.dimensions import NOT_COUNTED, REFUSED_PREFIX, UNKNOWN, UNKNOWN_BRANCH
from analytics.models import Dimension, Kind
from links.clicks import add_clicks

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
_ADD_UNREPORTED = """
INSERT INTO analytics_unreportedclicks AS u (link_id, clicks, imported)
SELECT link_id, clicks, %s FROM unnest(%s::bigint[], %s::bigint[]) added (link_id, clicks) ORDER BY link_id
ON CONFLICT (link_id) DO UPDATE SET clicks = u.clicks + EXCLUDED.clicks, imported = u.imported + EXCLUDED.imported
"""
_OUTCOMES = {Kind[name.upper()]: name for name in NOT_COUNTED}


class _Counted:
    """The sums of a batch."""

    def __init__(self) -> None:
        # By day since 1970 and link.
        self.days: dict[int, dict[int, Day | OneClick]] = {}
        self.outcomes: Counter[tuple[int, int, str]] = Counter()
        # Clicks that the links' counters include already. Those of ignored visits are in no report.
        self.claimed: Counter[int] = Counter()
        self.unreported: Counter[int] = Counter()

    def add(self, batch: Sequence[Facts], branches: Mapping[int, uuid.UUID]) -> None:
        """Count requests; ``branches`` by their places in the batch."""
        # Hot path: each look-up of an attribute counts. Most requests are of the same day as the one before.
        click, number, places = int(Kind.CLICK), -1, dict[int, list[int]]()
        by_day: dict[int, dict[int, list[int]]] = {}
        for place, facts in enumerate(batch):
            time, link_id, kind, is_claimed, _, _, _, _, _, _, _, _ = facts
            if time // DAY_MICROSECONDS != number:
                number = time // DAY_MICROSECONDS
                places = by_day.setdefault(number, {})
            if kind != click:
                self.outcomes[link_id, number, _outcome(facts)] += 1
                if is_claimed:
                    self.unreported[link_id] += 1
                continue
            if link_id in places:
                places[link_id].append(place)
            else:
                places[link_id] = [place]
            if is_claimed:
                self.claimed[link_id] += 1
        for number, links in by_day.items():
            self.days[number] = {
                link_id: OneClick(batch, places[0]) if len(places) == 1 else Day(batch, places)
                for link_id, places in links.items()
            }
        for place, branch in branches.items():
            if batch[place].kind == click:
                self._day_of(batch[place]).add_key(_branch_key(Dimension.BRANCH, branch))

    def _day_of(self, facts: Facts) -> Day | OneClick:
        return self.days[facts.time // DAY_MICROSECONDS][facts.link_id]

    def clicks(self, links: Iterable[int]) -> dict[int, int]:
        """The clicks of each of these links that its counter lacks."""
        clicks = dict.fromkeys(links, 0)
        for days in self.days.values():
            for link_id, day in days.items():
                clicks[link_id] += day.clicks
        for link_id, number in self.claimed.items():
            clicks[link_id] -= number
        return clicks

    def add_visitors(self, branches: Mapping[int, uuid.UUID]) -> set[int]:
        """Add the visitors to the tables, and count their first clicks. Returns the places of those on branches."""
        unique = set()
        for number in sorted(self.days):
            days = self.days[number]
            visitors = {link_id: day.visitors for link_id, day in days.items() if day.visitors}
            for link_id, visitor in add_visitors(number, visitors):
                day = days[link_id]
                place = day.add_unique(visitor)
                if place in branches:
                    unique.add(place)
                    day.add_key(_branch_key(Dimension.UNIQUE_BRANCH, branches[place]))
        return unique


def add_to_tables(batch: Sequence[Facts], slot: int, texts: ClickTexts) -> None:
    """Count requests in every table, in the caller's transaction, and leave out those of deleted links.

    ``slot``: see `analytics.counting.days`. ``texts``: the caller's cache.
    """
    links = {facts.link_id for facts in batch}
    branches = _branches(batch)
    counted = _Counted()
    counted.add(batch, branches)
    listeners = click_listeners()
    ids = next_click_ids(len(batch)) if listeners else []
    if not branches:
        copy_clicks(batch, branches, set(), texts, ids)
    closed = closed_day(min(counted.days))
    unique = counted.add_visitors(branches)
    # Only now is it known which clicks on branches are unique.
    if branches:
        copy_clicks(batch, branches, unique, texts, ids)
    add_days(counted.days, counted.outcomes, slot, closed)
    # Locks the counters: from here on, a link can only be deleted after this commit.
    owners = add_clicks(counted.clicks(links))
    deleted = links - owners.keys()
    if deleted:
        _delete(deleted, slot)
    heard = {link: owner for link, owner in owners.items() if owner in listeners} if listeners else {}
    if heard:
        emit_clicks(batch, ids, branches, heard)
    add_batch(batch, counted.days, counted.outcomes, deleted)
    if counted.unreported:
        add_unreported({link: number for link, number in counted.unreported.items() if link not in deleted})


def add_unreported(clicks: Mapping[int, int], *, imported: int = 0) -> None:
    """Remember clicks that the links' counters include and no report, in the caller's transaction, which has locked
    the counters. ``imported``: how many of another service each link has beside them.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ADD_UNREPORTED, [imported, list(clicks), list(clicks.values())])


def _delete(links: Collection[int], slot: int) -> None:
    """Delete what the batch has written of links that are deleted."""
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


def _branch_key(dimension: Dimension, branch: uuid.UUID) -> str:
    return f"{dimension:d}{UNKNOWN if branch == UNKNOWN_BRANCH else branch}"
