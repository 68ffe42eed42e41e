"""The roll-ups of large workspaces and domains: the days of all their links, added up as if they were of one link.

A report of such a workspace reads some hundred rows instead of millions. A roll-up is a link to the tables of days and
to the closing of days: its rows have the negative number of the roll-up instead of a link's. Beside them,
analytics_rolluplinks has the clicks of each link on each day: from these, reports take the best links.

No batch waits for the rows of a roll-up, because it only inserts what they lack into analytics_rollupchange, one row
for each roll-up and day. So does everything else that changes which clicks a roll-up has: imports and erasures, and
triggers for links that leave it or come to it. `fold_changes` adds these rows to the days, and reports add those that
wait. So a report is exact at any time, and at the price of a row or two for each batch.

A batch knows the workspaces of its links once it has locked their counters against deletion. Moves wait for open
batches, because that does not lock the counters of all links against them (`links.clicks`).
"""

# ruff: noqa: S608 # built from constants

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from itertools import chain

from django.db import connection, transaction

from analytics.counting.closed_days import LOCK as CLOSING_LOCK
from analytics.counting.closed_days import closed_day, month_of
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
from analytics.models import Kind, RollupLinks
from common.database import (
    PLAN_BY_KEY,
    PLAN_BY_LINK,
    execute,
    fetch,
    integer_array,
    prepared_cursor,
    text_array,
)
from links.clicks import wait_for_batches

# A workspace with so many clicks and links can have more days of links than a report reads within some tens of
# milliseconds.
MANY_CLICKS = 50_000
MANY_LINKS = 1_000
# Changes wait until there are so many, or so many clicks in them: each costs reports some microseconds.
MANY_CHANGES = 256
CHANGED_CLICKS = 16_384
# So many changes are folded in a transaction, and so many links begin a roll-up with one statement.
_CHUNK = 1_000
# With so many rows of a bucket and a day, the next one is added to them.
_ROWS_OF_BUCKET = 4
_LINKS = 10_000
# Shared by everything but batches that changes the clicks of a roll-up: one begins between such changes. The
# migrations have this number, too.
_CHANGE_LOCK = 5_823_146
_FOLD_LOCK = 5_823_147

_ARE_THERE_ANY = "SELECT EXISTS (SELECT FROM analytics_rollup)"
_OF_LINKS = "SELECT link_id, rollup FROM analytics_rolledlink WHERE link_id = ANY(%s::bigint[])"
_INSERT = """
INSERT INTO analytics_rollupchange (
    link_id, day, slot, clicks, unique_clicks, quarters, counts, outcomes, links, link_clicks
)
SELECT link_id, day, 0, clicks, unique_clicks, quarters::integer[], counts, outcomes, links::bigint[],
    link_clicks::integer[]
FROM unnest(
    %s::bigint[], %s::date[], %s::integer[], %s::integer[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[]
) added (link_id, day, clicks, unique_clicks, quarters, counts, outcomes, links, link_clicks)
"""
_INSERT_IMPORTED = f"""
INSERT INTO analytics_rollupchange (
    link_id, day, slot, clicks, unique_clicks, quarters, counts, outcomes, links, link_clicks
)
SELECT -rollup, day, {IMPORTED}, sum(clicks), 0, ARRAY[%(quarter)s::integer, sum(clicks)::integer, 0], {{counts}}, '',
    array_agg(link_id), array_agg(clicks::integer)
FROM unnest(%(links)s::bigint[], %(days)s::date[], %(clicks)s::bigint[]) added (link_id, day, clicks)
JOIN analytics_rolledlink USING (link_id) GROUP BY rollup, day
"""
_ERASE = """
SELECT analytics_change_rollup(rollup, ARRAY[%(link)s::bigint], -1, %(before)s)
FROM analytics_rolledlink WHERE link_id = %(link)s
"""
_WITH_CHANGES = """
SELECT c.link_id FROM analytics_rollupchange c JOIN analytics_rollup r ON r.id = -c.link_id
WHERE r.is_complete GROUP BY 1 HAVING count(*) >= %s OR sum(abs(clicks)) >= %s
"""
_TAKE = f"""
WITH taken AS (
    DELETE FROM analytics_rollupchange WHERE id = ANY(ARRAY(
        SELECT id FROM analytics_rollupchange WHERE link_id = %(rollup)s ORDER BY day LIMIT %(chunk)s
    )) RETURNING *
), added AS MATERIALIZED (
    SELECT day, (link_id >> {RollupLinks.LINK_BITS})::integer AS bucket, link_id, sum(clicks) AS clicks
    FROM (SELECT day, unnest(links) AS link_id, unnest(link_clicks) AS clicks FROM taken) link GROUP BY 1, 2, 3
), many AS MATERIALIZED (
    SELECT ids FROM (SELECT DISTINCT bucket, day FROM added) changed CROSS JOIN LATERAL (
        SELECT array_agg(id) AS ids FROM analytics_rolluplinks t
        WHERE t.link_id = %(rollup)s AND t.bucket = changed.bucket AND t.day = changed.day
    ) stored WHERE cardinality(ids) >= %(rows)s
), former AS (
    DELETE FROM analytics_rolluplinks WHERE id = ANY(ARRAY(SELECT unnest(ids) FROM many)) RETURNING *
), stored AS (
    INSERT INTO analytics_rolluplinks (link_id, bucket, day, number, links, clicks)
    SELECT %(rollup)s, bucket, day, count(*), array_agg(link_id), array_agg(clicks) FROM (
        SELECT bucket, day, link_id, sum(clicks)::integer AS clicks FROM (
            SELECT bucket, day, link_id, clicks FROM added
            UNION ALL SELECT bucket, day, unnest(links), unnest(clicks) FROM former
        ) part GROUP BY 1, 2, 3 HAVING sum(clicks) <> 0
    ) link GROUP BY 2, 3
)
SELECT day, slot, clicks, unique_clicks, quarters, counts, outcomes FROM taken
"""
_LARGE_WORKSPACES = """
SELECT owner_id, NULL FROM links_ownertotals t
WHERE NOT EXISTS (SELECT FROM analytics_rollup r WHERE r.owner_id = t.owner_id)
GROUP BY 1 HAVING sum(clicks) >= %(clicks)s AND sum(links) >= %(links)s ORDER BY 1
"""
# Of these workspaces, so that nobody has to add up the clicks of each domain.
_LARGE_DOMAINS = """
SELECT NULL, d.id FROM domains_domain d JOIN analytics_rollup w ON w.owner_id = d.owner_id
WHERE NOT EXISTS (SELECT FROM analytics_rollup r WHERE r.domain_id = d.id) AND %(links)s <= (
    SELECT count(*) FROM (SELECT FROM links_link l WHERE l.domain_id = d.id LIMIT %(links)s) few
) ORDER BY 2
"""
_GONE = """
SELECT id FROM analytics_rollup r WHERE NOT is_complete AND begun_at < now() - interval '1 hour'
OR NOT EXISTS (SELECT FROM accounts_workspace WHERE id = r.owner_id)
AND NOT EXISTS (SELECT FROM domains_domain WHERE id = r.domain_id)
"""
# Of a roll-up that was deleted while somebody was beginning it.
_FORGET_CHANGES = """
DELETE FROM analytics_rollupchange c WHERE NOT EXISTS (SELECT FROM analytics_rollup WHERE id = -c.link_id)
"""
_MARK_MONTHS = f"""
INSERT INTO analytics_busymonth (link_id, month)
SELECT DISTINCT link_id, {month_of("day")} FROM analytics_rollupchange
WHERE link_id = %s AND day <= (SELECT day FROM analytics_closedday)
"""
_BEGIN = (
    "INSERT INTO analytics_rollup (owner_id, domain_id) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING id"
)
_NEXT_LINKS = f"""
SELECT link_id FROM links_searchable WHERE (owner_id = %s OR domain_id = %s) AND link_id > %s
ORDER BY link_id LIMIT {_LINKS}
"""


def add_batch(
    batch: Sequence[Facts],
    days: Days,
    outcomes: Mapping[tuple[int, int, str], int],
    deleted: Collection[int],
) -> None:
    """Insert what a batch adds to the roll-ups. The caller's transaction has the counters of its links.

    ``outcomes``: requests that are no clicks, by link, day since 1970 and key. A roll-up begins between batches, so
    none is missed.
    """
    with prepared_cursor() as cursor:
        cursor.execute(_ARE_THERE_ANY)
        if not cursor.fetchone()[0]:
            return
        cursor.execute(_OF_LINKS, [integer_array({facts.link_id for facts in batch}.difference(deleted))])
        rollups: dict[int, list[int]] = {}
        for link_id, rollup in cursor.fetchall():
            rollups.setdefault(link_id, []).append(rollup)
    if not rollups:
        return
    sums, links = _sums(days, rollups)
    for key, values in _values(batch, rollups).items():
        sums[key].counts = Counter(chain.from_iterable(values))
    others: dict[_RollupDay, Counter[str]] = {}
    for (link_id, number, text), requests in outcomes.items():
        for rollup in rollups.get(link_id, ()):
            others.setdefault((rollup, number), Counter())[text] += requests
    if sums or others:
        _insert(sums, others, links)


# A roll-up, and a day since 1970.
_RollupDay = tuple[int, int]


def _sums(
    days: Days, rollups: Mapping[int, Sequence[int]]
) -> tuple[dict[_RollupDay, Day], dict[_RollupDay, dict[int, int]]]:
    """The clicks of each day, without their values, and those of each link."""
    sums: dict[_RollupDay, Day] = {}
    links: dict[_RollupDay, dict[int, int]] = {}
    for number, of_links in days.items():
        for link_id, one in of_links.items():
            for rollup in rollups.get(link_id, ()):
                day = sums.setdefault((rollup, number), Day())
                _add(day, one.clicks, one.unique_clicks, one.quarters)
                links.setdefault((rollup, number), {})[link_id] = one.clicks
    return sums, links


def _values(
    batch: Sequence[Facts], rollups: Mapping[int, Sequence[int]]
) -> dict[_RollupDay, list[tuple[str, ...]]]:
    """The keys of each click. Those of branches are not among them: only reports of links have branches."""
    values: dict[_RollupDay, list[tuple[str, ...]]] = {}
    click = int(Kind.CLICK)
    for facts in batch:
        if facts.kind == click:
            for rollup in rollups.get(facts.link_id, ()):
                values.setdefault((rollup, facts.time // DAY_MICROSECONDS), []).append(facts.keys)
    return values


def _add(day: Day, clicks: int, unique_clicks: int, quarters: Mapping[int, Sequence[int]]) -> None:
    day.clicks += clicks
    day.unique_clicks += unique_clicks
    for quarter, (in_quarter, unique_in_quarter) in quarters.items():
        counted = day.quarters.setdefault(quarter, [0, 0])
        counted[0] += in_quarter
        counted[1] += unique_in_quarter


def _insert(
    days: Mapping[_RollupDay, Day],
    outcomes: Mapping[_RollupDay, Mapping[str, int]],
    links: Mapping[_RollupDay, Mapping[int, int]],
) -> None:
    keys = sorted({*days, *outcomes})
    rows = [days.get(key) or Day() for key in keys]
    quarters = [
        chain.from_iterable((number, *counted) for number, counted in day.quarters.items()) for day in rows
    ]
    with prepared_cursor() as cursor:
        cursor.execute(
            _INSERT,
            [
                integer_array(-rollup for rollup, _ in keys),
                [date_of(number) for _, number in keys],
                integer_array(day.clicks for day in rows),
                integer_array(day.unique_clicks for day in rows),
                text_array(integer_array(numbers) for numbers in quarters),
                text_array(pack_counts(day.counts) for day in rows),
                text_array(pack_counts(outcomes.get(key, {})) for key in keys),
                text_array(integer_array(links.get(key, {})) for key in keys),
                text_array(integer_array(links.get(key, {}).values()) for key in keys),
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
        if not is_locked:
            return 0
        execute(f"SELECT {PLAN_BY_KEY}")
        rows = fetch(_TAKE, {"rollup": link_id, "chunk": _CHUNK, "rows": _ROWS_OF_BUCKET})
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
                    _add(summed, clicks, unique_clicks, unpack_quarters(quarters))
                    for key, value in unpack_counts(counts).items():
                        summed.counts[key] = summed.counts.get(key, 0) + value
                for key, value in unpack_counts(others).items():
                    outcomes[link_id, number, key] += value
            add_days(days, outcomes, slot, closed)
        return len(rows)


def begin_rollups(clicks: int = MANY_CLICKS, links: int = MANY_LINKS) -> None:
    """Begin the roll-ups of workspaces with so many clicks and links, and of their domains with so many links.

    Deletes those of deleted workspaces and domains.

    Any number of hosts may call this, outside a transaction. One that is interrupted is begun again after an hour.
    """
    for (number,) in fetch(_GONE):
        _delete(number)
    execute(_FORGET_CHANGES)
    for candidates in (_LARGE_WORKSPACES, _LARGE_DOMAINS):
        for owner, domain in fetch(candidates, {"clicks": clicks, "links": links}):
            _begin(owner, domain)


def _begin(owner: int | None, domain: int | None) -> None:
    """Add up the days that the links of a workspace or a domain have at one moment; later changes are inserted.

    Batches wait only for the moment: a transaction on a connection of its own sees the tables as they were then.
    """
    reader = connection.copy()
    try:
        reader.set_autocommit(False)
        with reader.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        with transaction.atomic():
            _lock_everything()
            rows = fetch(_BEGIN, [owner, domain])
            if not rows:
                return
            with reader.cursor() as cursor:
                # The first query decides what the transaction sees.
                cursor.execute("SELECT")
        [(number,)] = rows
        with reader.cursor() as cursor:
            last = 0
            while True:
                cursor.execute(_NEXT_LINKS, [owner, domain, last])
                links = [link_id for (link_id,) in cursor.fetchall()]
                if not links:
                    break
                cursor.execute("SELECT analytics_change_rollup(%s, %s, 1)", [number, links])
                last = links[-1]
        reader.commit()
        _mark_months(number)
    finally:
        reader.close()
    # Unless another host has deleted it, or a change was too large.
    execute("UPDATE analytics_rollup SET is_complete = true WHERE id = %s AND begun_at <> 'epoch'", [number])
    fold_changes()


def _mark_months(number: int) -> None:
    """Let all months with closed days be busy ones, before these days are folded in."""
    with transaction.atomic():
        execute("SELECT pg_advisory_xact_lock_shared(%s)", [CLOSING_LOCK])
        execute(_MARK_MONTHS, [-number])


def _delete(number: int) -> None:
    with transaction.atomic():
        # First, because batches would wait for the fold.
        execute("SELECT pg_advisory_xact_lock(%s)", [_FOLD_LOCK])
        _lock_everything()
        execute("DELETE FROM analytics_rollup WHERE id = %s", [number])
        for table in ("analytics_rollupchange", "analytics_rolluplinks"):
            execute(f"DELETE FROM {table} WHERE link_id = %s", [-number])
        # Its days are deleted like those of a link.
        execute("INSERT INTO analytics_deletedlink (link_id) VALUES (%s) ON CONFLICT DO NOTHING", [-number])


def _lock_everything() -> None:
    """Wait for open batches and other changes of clicks, and let none begin."""
    wait_for_batches()
    execute("SELECT pg_advisory_xact_lock(%s)", [_CHANGE_LOCK])
