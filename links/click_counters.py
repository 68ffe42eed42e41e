"""Adds counted clicks to the counters of links, in the transactions of the click pipeline."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from common.array_text import integer_array
from common.database import prepared_cursor

# A key share lock prevents deletion of the counter, but not updates by others.
_KEEP = (
    "SELECT link_id FROM links_clickcounter WHERE link_id = ANY(%s::bigint[]) ORDER BY link_id FOR KEY SHARE"
)
_LOCK = "SELECT link_id FROM links_clickcounter WHERE link_id = ANY(%s::bigint[]) ORDER BY link_id FOR NO KEY UPDATE"
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
WHERE d.link_id = added.link_id AND d.link_id = deleted.link_id RETURNING d.link_id
"""
# Choose a slot of the owners' totals that requests never write: the first one that no other drainer has locked.
# The lock lasts until the end of the transaction.
_CHOOSE_SLOT = """
SELECT set_config('links.totals_slot', coalesce(
    (SELECT slot FROM generate_series(8, 15) slot WHERE pg_try_advisory_xact_lock(5823141, slot) LIMIT 1),
    8 + pg_backend_pid() % 8
)::text, true)
"""
_ADD = """
UPDATE links_clickcounter c SET clicks = c.clicks + added.clicks
FROM unnest(%s::bigint[], %s::bigint[]) added (link_id, clicks) WHERE c.link_id = added.link_id
"""


def existing_links(link_ids: Collection[int], *, keep: bool = False) -> set[int]:
    """Return the links that exist or can be undeleted.

    ``keep``: only those that exist. They cannot be deleted before the caller's transaction ends.
    """
    if not link_ids:
        return set()
    with prepared_cursor() as cursor:
        cursor.execute(_KEEP if keep else _EXISTING, [integer_array(link_ids)] * (1 if keep else 2))
        return {link_id for (link_id,) in cursor.fetchall()}


def add_clicks(clicks: Mapping[int, int]) -> set[int]:
    """Add to the counters of these links in the caller's transaction. Returns those that exist or can be undeleted.

    These links cannot be deleted before the transaction ends. The changed counters stay locked until then, so call
    this last. It locks them in order to prevent deadlocks.
    """
    added: set[int] = set()
    remaining = dict(clicks)
    while remaining:
        added |= _add_to_existing(remaining)
        added |= _add_to_deleted({link_id: remaining[link_id] for link_id in remaining.keys() - added})
        # A link that is undeleted between the two statements is in neither result. One snapshot has every link.
        remaining = {link_id: clicks[link_id] for link_id in existing_links(remaining.keys() - added)}
    return added


def _add_to_existing(clicks: Mapping[int, int]) -> set[int]:
    """Add to the counters of those links that are not deleted, and return them."""
    added = {link_id: number for link_id, number in clicks.items() if number}
    with prepared_cursor() as cursor:
        existing: set[int] = set()
        if len(added) < len(clicks):
            cursor.execute(_KEEP, [integer_array(link_id for link_id in clicks if link_id not in added)])
            existing = {link_id for (link_id,) in cursor.fetchall()}
        if added:
            cursor.execute(_CHOOSE_SLOT)
            cursor.execute(_LOCK, [integer_array(added)])
            locked = [link_id for (link_id,) in cursor.fetchall()]
            existing |= set(locked)
            # Only to these: another one may have been undeleted since.
            cursor.execute(_ADD, [integer_array(locked), integer_array(added[link_id] for link_id in locked)])
    return existing


def _add_to_deleted(clicks: Mapping[int, int]) -> set[int]:
    """Add to the clicks of those links that are deleted and can be undeleted, and return them."""
    if not clicks:
        return set()
    with prepared_cursor() as cursor:
        links = integer_array(clicks)
        cursor.execute(_ADD_TO_DELETED, [links, links, integer_array(clicks.values())])
        return {link_id for (link_id,) in cursor.fetchall()}
