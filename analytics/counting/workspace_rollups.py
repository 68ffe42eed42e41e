"""The roll-ups of workspaces with many clicks: the days of all their links, added up as if they were those of one link.

A report of such a workspace reads some hundred rows instead of millions. A roll-up is a link to the tables of days and
to the closing of days: its rows have the negative number of the roll-up instead of a link's.

No batch waits for the rows of a roll-up, because it only inserts what they lack into analytics_rollupchange, one row
for each roll-up and day. So does everything else that changes which clicks a workspace has: imports and erasures, and,
by triggers, links that leave it or come to it. `fold_changes` adds these rows to the days, and reports add those that
wait. So a report is exact at any time, and at the price of a row or two for each batch.

A batch knows the workspaces of its links once it has locked their counters. Moves wait for open batches instead,
because a batch does not lock the counters of all links that much (`links.clicks`).
"""

# ruff: noqa: S608 # built from constants

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from itertools import chain

from django.db import connection, transaction

from analytics.counting.closed_days import closed_day
from analytics.counting.day_visitors import EPOCH, date_of
from analytics.counting.days import (
    IMPORTED,
    Day,
    Days,
    add_days,
    pack_counts,
    unpack_counts,
    unpack_quarters,
)
from analytics.counting.enrichment import DAY_MICROSECONDS, Facts
from analytics.models import Kind
from common.database import (
    PLAN_BY_KEY,
    PLAN_BY_LINK,
    execute,
    fetch,
    integer_array,
    prepared_cursor,
    text_array,
)
from links.clicks import owners_of, wait_for_batches

# A workspace with so many clicks and links can have more days of links than a report reads within some tens of
# milliseconds.
MANY_CLICKS = 50_000
MANY_LINKS = 1_000
# Changes wait until there are so many, or so many clicks in them: each costs reports some microseconds.
MANY_CHANGES = 256
CHANGED_CLICKS = 16_384
# So many changes are folded in a transaction, and so many links begin a roll-up with one statement.
_CHUNK = 1_000
_LINKS = 10_000
# Shared by everything but batches that changes the clicks of a workspace: a roll-up begins between such changes. The
# migrations have this number, too.
_CHANGE_LOCK = 5_823_146
_FOLD_LOCK = 5_823_147

_ROLLUPS = "SELECT owner_id, id FROM analytics_workspacerollup"
_INSERT = """
INSERT INTO analytics_rollupchange (link_id, day, slot, clicks, unique_clicks, quarters, counts, outcomes)
SELECT link_id, day, 0, clicks, unique_clicks, quarters::integer[], counts, outcomes
FROM unnest(
    %s::bigint[], %s::date[], %s::integer[], %s::integer[], %s::text[], %s::text[], %s::text[]
) added (link_id, day, clicks, unique_clicks, quarters, counts, outcomes)
"""
_INSERT_IMPORTED = f"""
INSERT INTO analytics_rollupchange (link_id, day, slot, clicks, unique_clicks, quarters, counts, outcomes)
SELECT -r.id, day, {IMPORTED}, sum(added.clicks), 0, ARRAY[%(quarter)s::integer, sum(added.clicks)::integer, 0],
    {{counts}}, ''
FROM unnest(%(links)s::bigint[], %(days)s::date[], %(clicks)s::bigint[]) added (link_id, day, clicks)
JOIN links_clickcounter USING (link_id) JOIN analytics_workspacerollup r USING (owner_id) GROUP BY r.id, day
"""
_ERASE = """
SELECT analytics_change_rollup(r.id, ARRAY[%(link)s::bigint], -1, %(before)s)
FROM links_clickcounter c JOIN analytics_workspacerollup r USING (owner_id) WHERE c.link_id = %(link)s
"""
_WITH_CHANGES = """
SELECT c.link_id FROM analytics_rollupchange c JOIN analytics_workspacerollup r ON r.id = -c.link_id
WHERE r.is_complete GROUP BY 1 HAVING count(*) >= %s OR sum(abs(clicks)) >= %s
"""
_TAKE = f"""
WITH taken AS (
    DELETE FROM analytics_rollupchange WHERE id = ANY(ARRAY(
        SELECT id FROM analytics_rollupchange WHERE link_id = %s LIMIT {_CHUNK}
    )) RETURNING *
)
SELECT day, slot, clicks, unique_clicks, quarters, counts, outcomes FROM taken
"""
_CANDIDATES = """
SELECT owner_id FROM links_ownertotals t WHERE NOT EXISTS (
    SELECT FROM analytics_workspacerollup r WHERE r.owner_id = t.owner_id
) GROUP BY 1 HAVING sum(clicks) >= %s AND sum(links) >= %s ORDER BY 1
"""
_GONE = """
SELECT id FROM analytics_workspacerollup r
WHERE NOT is_complete AND begun_at < now() - interval '1 hour'
OR NOT EXISTS (SELECT FROM accounts_workspace WHERE id = r.owner_id)
"""
_BEGIN = "INSERT INTO analytics_workspacerollup (owner_id) VALUES (%s) ON CONFLICT DO NOTHING RETURNING id"
_NEXT_LINKS = f"""
SELECT link_id FROM links_clickcounter WHERE owner_id = %s AND link_id > %s ORDER BY link_id LIMIT {_LINKS}
"""


def rollups() -> dict[int, int]:
    """The numbers of roll-ups by workspace. Within a batch, they stay the same: a roll-up begins between batches."""
    with prepared_cursor() as cursor:
        cursor.execute(_ROLLUPS)
        return dict(cursor.fetchall())


def add_batch(
    numbers: Mapping[int, int],
    batch: Sequence[Facts],
    days: Days,
    outcomes: Mapping[tuple[int, int, str], int],
    deleted: Collection[int],
) -> None:
    """Insert what a batch adds to the roll-ups with these ``numbers``. The caller's transaction has its counters.

    ``outcomes``: requests that are no clicks, by link, day since 1970 and key. Batches have locked the counters of
    links with clicks; moves wait for the batch.
    """
    links = {facts.link_id for facts in batch}.difference(deleted)
    rollup_of = {link_id: numbers[owner] for link_id, owner in owners_of(links).items() if owner in numbers}
    if not rollup_of:
        return
    sums: dict[tuple[int, int], Day] = {}
    for number, of_links in days.items():
        for link_id, one in of_links.items():
            if link_id in rollup_of:
                day = sums.setdefault((rollup_of[link_id], number), Day())
                day.clicks += one.clicks
                day.unique_clicks += one.unique_clicks
                _add_quarters(day, one.quarters)
    keys: dict[tuple[int, int], list[tuple[str, ...]]] = {}
    click = int(Kind.CLICK)
    for facts in batch:
        if facts.kind == click and facts.link_id in rollup_of:
            keys.setdefault((rollup_of[facts.link_id], facts.time // DAY_MICROSECONDS), []).append(facts.keys)
    for key, values in keys.items():
        sums[key].counts = Counter(chain.from_iterable(values))
    others: dict[tuple[int, int], Counter[str]] = {}
    for (link_id, number, text), requests in outcomes.items():
        if link_id in rollup_of:
            others.setdefault((rollup_of[link_id], number), Counter())[text] += requests
    _insert(sums, others)


def _add_quarters(day: Day, quarters: Mapping[int, Sequence[int]]) -> None:
    for quarter, (clicks, unique_clicks) in quarters.items():
        counted = day.quarters.setdefault(quarter, [0, 0])
        counted[0] += clicks
        counted[1] += unique_clicks


def _insert(
    days: Mapping[tuple[int, int], Day], outcomes: Mapping[tuple[int, int], Mapping[str, int]]
) -> None:
    keys = sorted({*days, *outcomes})
    rows = [days.get(key) or Day() for key in keys]
    with prepared_cursor() as cursor:
        cursor.execute(
            _INSERT,
            [
                integer_array([-rollup for rollup, _ in keys]),
                [date_of(number) for _, number in keys],
                integer_array([day.clicks for day in rows]),
                integer_array([day.unique_clicks for day in rows]),
                text_array(
                    [
                        integer_array(chain.from_iterable((q, *n) for q, n in day.quarters.items()))
                        for day in rows
                    ]
                ),
                text_array([pack_counts(day.counts) for day in rows]),
                text_array([pack_counts(outcomes.get(key, {})) for key in keys]),
            ],
        )


def lock_changes() -> None:
    """Let no roll-up begin until the caller's transaction ends. Call it before changing the days of links."""
    execute("SELECT pg_advisory_xact_lock_shared(%s)", [_CHANGE_LOCK])


def add_imported(parameters: Mapping[str, object], counts: str, quarter: int) -> None:
    """Insert imported clicks. The caller has locked the counters of the links and called `lock_changes`.

    ``parameters``: those of `analytics.counting.imported_days`, whose packed ``counts`` are SQL over ``clicks``.
    """
    execute(_INSERT_IMPORTED.format(counts=counts), {**parameters, "quarter": quarter})


def subtract_days(link_id: int, before: date) -> None:
    """Insert the days of a link before a day as subtracted. The caller has locked the link, and keeps batches out."""
    fetch(_ERASE, {"link": link_id, "before": before})


def fold_changes(changes: int = MANY_CHANGES, clicks: int = CHANGED_CLICKS) -> None:
    """Add the changes to the days of those roll-ups that have so many changes, or so many clicks in them.

    Any number of processes may call this: one of them works, the others return. Call it outside a transaction.
    """
    for (link_id,) in fetch(_WITH_CHANGES, [changes, clicks]):
        while _fold(link_id) == _CHUNK:
            pass


def _fold(link_id: int) -> int:
    """Fold some changes in a transaction, and return their number."""
    with transaction.atomic():
        [(is_locked,)] = fetch(f"SELECT pg_try_advisory_xact_lock({_FOLD_LOCK})")
        rows = fetch(_TAKE, [link_id]) if is_locked else []
        if not rows:
            return 0
        execute(f"SELECT {PLAN_BY_KEY}, {PLAN_BY_LINK}")
        closed = closed_day(min((day - EPOCH).days for day, *_ in rows))
        for slot in (0, IMPORTED):
            days: dict[int, dict[int, Day]] = {}
            outcomes: Counter[tuple[int, int, str]] = Counter()
            for day, of_slot, clicks, unique_clicks, quarters, counts, others in rows:
                if of_slot != slot:
                    continue
                number = (day - EPOCH).days
                if quarters:
                    summed = days.setdefault(number, {}).setdefault(link_id, Day())
                    summed.clicks += clicks
                    summed.unique_clicks += unique_clicks
                    _add_quarters(summed, unpack_quarters(quarters))
                    for key, value in unpack_counts(counts).items():
                        summed.counts[key] = summed.counts.get(key, 0) + value
                for key, value in unpack_counts(others).items():
                    outcomes[link_id, number, key] += value
            add_days(days, outcomes, slot, closed)
        return len(rows)


def begin_rollups(clicks: int = MANY_CLICKS, links: int = MANY_LINKS) -> None:
    """Delete the roll-ups of deleted workspaces, and begin those of workspaces with so many clicks and links.

    Any number of hosts may call this, outside a transaction. One that is interrupted is begun again after an hour.
    """
    for (number,) in fetch(_GONE):
        _delete(number)
    for (owner,) in fetch(_CANDIDATES, [clicks, links]):
        _begin(owner)


def _begin(owner: int) -> None:
    """Add up the days that the links of a workspace have at one moment. All later changes are inserted as they happen.

    Batches wait only for the moment: a transaction on a connection of its own sees the tables as they were then.
    """
    reader = connection.copy()
    try:
        with transaction.atomic():
            _lock_everything()
            rows = fetch(_BEGIN, [owner])
            if not rows:
                return
            reader.set_autocommit(False)
            with reader.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                # The first query decides what the transaction sees.
                cursor.execute("SELECT")
        [(number,)] = rows
        with reader.cursor() as cursor:
            last = 0
            while True:
                cursor.execute(_NEXT_LINKS, [owner, last])
                links = [link_id for (link_id,) in cursor.fetchall()]
                if not links:
                    break
                cursor.execute("SELECT analytics_change_rollup(%s, %s, 1)", [number, links])
                last = links[-1]
        reader.commit()
    finally:
        reader.close()
    if not execute("UPDATE analytics_workspacerollup SET is_complete = true WHERE id = %s", [number]):
        # Another host has taken this one for interrupted.
        execute("DELETE FROM analytics_rollupchange WHERE link_id = %s", [-number])
    fold_changes()


def _delete(number: int) -> None:
    with transaction.atomic():
        _lock_everything()
        execute("SELECT pg_advisory_xact_lock(%s)", [_FOLD_LOCK])
        execute("DELETE FROM analytics_workspacerollup WHERE id = %s", [number])
        execute("DELETE FROM analytics_rollupchange WHERE link_id = %s", [-number])
        # Its days are deleted like those of a link.
        execute("INSERT INTO analytics_deletedlink (link_id) VALUES (%s) ON CONFLICT DO NOTHING", [-number])


def _lock_everything() -> None:
    """Wait for open batches and other changes of the clicks of workspaces, and let none begin."""
    wait_for_batches()
    execute("SELECT pg_advisory_xact_lock(%s)", [_CHANGE_LOCK])
