"""Clicks of links: taking those that a limited link has left, and adding counted ones to its counter.

A claim takes a click for one visit, or for many visits with one statement. The claim of many trades clarity
for speed: the statement also locks the counters and stores the records, and its form keeps the server from planning it
again. A claim takes 77 us of the web server and 45 of PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db import Error, connection

from common.database import (
    PLAN_BY_LINK,
    bytea_array,
    execute,
    fetch,
    has_unknown_outcome,
    integer_array,
    prepared_cursor,
    read_first,
)
from links.availability import BAN_REASON, Closed

# `links_claim` is an SQL function of the migrations. Its statements are planned once for each connection.
_CLAIM = """
WITH outcome AS MATERIALIZED (SELECT links_claim(%(link)s, %(visitors)s) AS reason),
claimed AS (SELECT FROM outcome WHERE reason IS NULL), recorded AS ({record})
SELECT reason FROM outcome
"""


def claim_click(
    *, link_id: int, record: str, values: dict[str, Any], visitors: list[bytes] | None
) -> Closed | None:
    """Claim one of a capped link's remaining clicks; exact under any concurrency. Return why not, or None if claimed.

    ``record`` is an INSERT of one row FROM claimed. It is part of the same statement, so both happen or neither.
    ``visitors`` is required for a link with a limit per visitor: the hashes of the visitor's address under the
    installation's current key and then under its former keys.
    """
    [(reason,)] = fetch(_CLAIM.format(record=record), {**values, "link": link_id, "visitors": visitors})
    return None if reason is None else Closed(reason)


# A single claim may wait for longer. Others of the group would wait with it.
_SET_LOCK_TIMEOUT = "SET lock_timeout = '250ms'"
# Locks the counters in the order of their keys, like every statement that locks several. Each request of a link gets a
# number, in the order of ``links``: those up to the number of clicks left are claimed. LATERAL and the array make the
# server use the indexes, whatever its statistics say. It does not estimate an array in a subquery by its length:
# otherwise it would plan the statement again for each small group.
_CLAIM_MANY = f"""
WITH request AS MATERIALIZED (
    SELECT link_id, record, place, row_number() OVER (PARTITION BY link_id ORDER BY place) AS number
    FROM unnest((SELECT %(links)s::bigint[]), (SELECT %(records)s::bytea[]))
        WITH ORDINALITY request (link_id, record, place)
), granted AS MATERIALIZED (
    SELECT wanted.link_id, link.reason,
        CASE WHEN link.reason IS NULL THEN least(wanted.clicks, link.max_clicks - counter.clicks) ELSE 0 END AS clicks
    FROM (SELECT link_id, count(*) AS clicks FROM request GROUP BY link_id ORDER BY link_id) wanted
    CROSS JOIN LATERAL (
        SELECT clicks FROM links_clickcounter WHERE link_id = wanted.link_id FOR NO KEY UPDATE
    ) counter
    CROSS JOIN LATERAL (
        SELECT coalesce(l.max_clicks, 9223372036854775807) AS max_clicks,
            CASE WHEN l.max_clicks_per_visitor IS NOT NULL THEN '{Closed.VISITOR_LIMIT_REACHED}' ELSE links_closed_by(
                {BAN_REASON}, l.is_active, l.starts_at, l.expires_at, l.max_clicks, counter.clicks
            ) END AS reason
        FROM links_link l WHERE l.id = wanted.link_id LIMIT 1
    ) link
), counted AS (
    UPDATE links_clickcounter c SET clicks = c.clicks + granted.clicks FROM granted
    WHERE granted.clicks > 0 AND c.link_id = granted.link_id AND c.link_id = ANY (ARRAY(SELECT link_id FROM granted))
), claimed AS MATERIALIZED (
    SELECT record, place FROM request JOIN granted USING (link_id) WHERE number <= granted.clicks
), recorded AS ({{record}} ORDER BY place)
SELECT place, CASE WHEN granted.link_id IS NULL THEN '{Closed.DELETED}'
    ELSE coalesce(reason, '{Closed.LIMIT_REACHED}') END
FROM request LEFT JOIN granted USING (link_id) WHERE (number <= granted.clicks) IS NOT TRUE
"""  # noqa: S608 # built from constants


class NotClaimed(Exception):
    """The statement had no effect: its clicks can be claimed one by one."""


def claim_clicks(links: Sequence[int], records: Sequence[bytes], *, record: str) -> list[Closed | None]:
    """Claim a click of each of these links (ids, which may repeat), if one is left; exact under any concurrency.

    Return for each why it is not claimed, or None. A link with a limit per visitor grants no click. ``record`` inserts
    the record of each claimed click FROM claimed, in the same statement. Call it outside a transaction. Raises
    NotClaimed, or a database error if the clicks may be claimed.
    """

    def prepare() -> None:
        execute(_SET_LOCK_TIMEOUT)

    try:
        read_first(prepare)
    except Error as error:
        connection.close()
        raise NotClaimed from error
    try:
        with prepared_cursor() as cursor:
            values = {"links": integer_array(links), "records": bytea_array(records)}
            cursor.execute(_CLAIM_MANY.format(record=record), values)
            refused = {place: Closed(reason) for place, reason in cursor.fetchall()}
    except Error as error:
        was_rejected = _was_rejected(error)
        connection.close()
        if was_rejected:
            raise NotClaimed from error
        raise
    return [refused.get(place) for place in range(1, len(links) + 1)]


def _was_rejected(error: Error) -> bool:
    """Whether the server has rolled the statement back, rather than the connection being lost meanwhile."""
    sqlstate = getattr(error.__cause__, "sqlstate", None)
    # Classes of lost connections, and of a server that ends sessions.
    return sqlstate is not None and not sqlstate.startswith(("08", "57P")) and not has_unknown_outcome(error)


# Batches of clicks share this advisory lock: a move waits for them, so that a batch knows whose link it counts.
COUNTING_LOCK = 5_823_145
# A key share lock prevents deletion of the counter, but not updates by others.
_KEEP = """
SELECT link_id, owner_id FROM links_clickcounter WHERE link_id = ANY(%s::bigint[]) ORDER BY link_id FOR KEY SHARE
"""
_EXISTING = """
SELECT link_id FROM links_clickcounter WHERE link_id = ANY(%s::bigint[])
UNION ALL SELECT link_id FROM links_deletedlink WHERE link_id = ANY(%s::bigint[])
"""
_ADD_TO_DELETED = """
WITH deleted AS MATERIALIZED (
    SELECT link_id FROM links_deletedlink WHERE link_id = ANY(%s::bigint[]) ORDER BY link_id FOR NO KEY UPDATE
)
UPDATE links_deletedlink d SET clicks = d.clicks + added.clicks
FROM unnest(%s::bigint[], %s::bigint[]) added (link_id, clicks), deleted
WHERE d.link_id = added.link_id AND d.link_id = deleted.link_id RETURNING d.link_id, d.owner_id
"""
# Choose a slot of the owners' totals that requests never write: the first one that no other drainer has locked.
# The lock lasts until the end of the transaction, and so do the methods of `_ADD`.
_CHOOSE_SLOT = f"""
SELECT {PLAN_BY_LINK},
    set_config('links.totals_slot', coalesce(
        (SELECT slot FROM generate_series(8, 15) slot WHERE pg_try_advisory_xact_lock(5823141, slot) LIMIT 1),
        8 + pg_backend_pid() % 8
    )::text, true)
"""  # noqa: S608 # built from constants
# Looks the counters up in the order of the index, and locks them in that order.
_ADD = """
UPDATE links_clickcounter c SET clicks = c.clicks + added.clicks
FROM unnest(%s::bigint[], %s::bigint[]) added (link_id, clicks)
WHERE c.link_id = added.link_id AND c.link_id = ANY(%s::bigint[])
RETURNING c.link_id, c.owner_id
"""


_SUBTRACT = """
UPDATE links_clickcounter c SET clicks = c.clicks - %(clicks)s - (c.imported - kept.imported), imported = kept.imported
FROM (
    SELECT greatest(imported - %(imported)s, %(imported_left)s) AS imported
    FROM links_clickcounter WHERE link_id = %(link)s FOR NO KEY UPDATE
) kept
WHERE c.link_id = %(link)s RETURNING c.clicks
"""


def subtract_clicks(link_id: int, *, clicks: int, imported: int, imported_left: int) -> int:
    """Subtract clicks of this service and imported ones, of which ``imported_left`` stay at least. Return the rest."""
    values = {"link": link_id, "clicks": clicks, "imported": imported, "imported_left": imported_left}
    [(left,)] = fetch(_SUBTRACT, values)
    return int(left)


def wait_for_batches() -> None:
    """Wait until no batch of clicks is open, and let none begin until the caller's transaction ends.

    The caller has locked no counter yet.
    """
    execute("SELECT pg_advisory_xact_lock(%s)", [COUNTING_LOCK])


def existing_links(link_ids: Collection[int], *, keep: bool = False) -> set[int]:
    """Return the links that exist or can be undeleted.

    ``keep``: only those that exist. They cannot be deleted before the caller's transaction ends.
    """
    if not link_ids:
        return set()
    with prepared_cursor() as cursor:
        cursor.execute(_KEEP if keep else _EXISTING, [integer_array(link_ids)] * (1 if keep else 2))
        return {link_id for link_id, *_ in cursor.fetchall()}


def add_clicks(clicks: Mapping[int, int]) -> dict[int, int]:
    """Add to the counters of these links in the caller's transaction. Returns the owners of those that exist or can be
    undeleted.

    These links cannot be deleted before the transaction ends. The changed counters stay locked until then, so call
    this last. It locks them in order to prevent deadlocks.
    """
    added: dict[int, int] = {}
    remaining = dict(clicks)
    while remaining:
        added |= _add_to_existing(remaining)
        added |= _add_to_deleted({link_id: remaining[link_id] for link_id in remaining.keys() - added})
        # A link that is undeleted between the two statements is in neither result. One snapshot has every link.
        remaining = {link_id: clicks[link_id] for link_id in existing_links(remaining.keys() - added)}
    return added


def _add_to_existing(clicks: Mapping[int, int]) -> dict[int, int]:
    """Add to the counters of those links that are not deleted, and return their owners."""
    added = {link_id: number for link_id, number in clicks.items() if number}
    with prepared_cursor() as cursor:
        existing: dict[int, int] = {}
        if len(added) < len(clicks):
            cursor.execute(_KEEP, [integer_array(link_id for link_id in clicks if link_id not in added)])
            existing = dict(cursor.fetchall())
        if added:
            cursor.execute(_CHOOSE_SLOT)
            links = sorted(added)
            ids, numbers = integer_array(links), integer_array(added[link_id] for link_id in links)
            cursor.execute(_ADD, [ids, numbers, ids])
            existing |= dict(cursor.fetchall())
    return existing


def _add_to_deleted(clicks: Mapping[int, int]) -> dict[int, int]:
    """Add to the clicks of those links that are deleted and can be undeleted, and return their owners."""
    if not clicks:
        return {}
    with prepared_cursor() as cursor:
        links = integer_array(clicks)
        cursor.execute(_ADD_TO_DELETED, [links, links, integer_array(clicks.values())])
        return dict(cursor.fetchall())
