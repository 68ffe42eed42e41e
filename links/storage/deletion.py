"""Deletes links and holds their codes, in one statement. Keeps the data to restore them."""

from __future__ import annotations

from collections.abc import Collection

from django.db import connection

from links.codes.namespace import HOLD_DAYS
from links.selectors import fetch

# Shorter than HOLD_DAYS, during which only the owner can get the codes.
UNDELETE_DAYS = 7
_BATCH = 1_000

# RETURNING has the counter as deleted, which may be newer than the snapshot of the statement.
_DELETE = f"""
WITH counters AS (
    DELETE FROM links_clickcounter WHERE link_id = ANY(%(links)s) RETURNING link_id, clicks, imported
), stored AS (
    INSERT INTO links_deletedlink (link_id, public_id, owner_id, link, codes, clicks, imported)
    SELECT l.id, l.public_id, l.owner_id, to_jsonb(l), (
        SELECT jsonb_agg(jsonb_build_object('domain_id', c.domain_id, 'code', c.code, 'kind', c.kind))
        FROM links_code c WHERE c.link_id = l.id
    ), n.clicks, n.imported
    FROM links_link l JOIN counters n ON n.link_id = l.id
), held AS (
    UPDATE links_code SET kind = 'retired', link_id = NULL, owner_id = links_link.owner_id,
        held_until = now() + interval '{HOLD_DAYS} days'
    FROM links_link WHERE links_link.id = ANY(%(links)s) AND link_id = links_link.id
    RETURNING code
), deleted AS (
    DELETE FROM links_link WHERE id = ANY(%(links)s) RETURNING links_record_deletion(links_link)
)
SELECT code FROM held
"""  # noqa: S608 # composed of constants
# Locks in the order of every statement that locks several links. Skips rows that another request is undeleting.
_DELETE_FINALLY = f"""
DELETE FROM links_deletedlink WHERE link_id IN (
    SELECT link_id FROM links_deletedlink WHERE deleted_at <= now() - interval '{UNDELETE_DAYS} days'
    ORDER BY link_id LIMIT {_BATCH} FOR UPDATE SKIP LOCKED
)
"""  # noqa: S608 # composed of constants


def delete_locked_links(link_ids: Collection[int]) -> list[str]:
    """Delete links and return their codes, which are held so that no other account can take over printed short URLs.

    The caller has locked the links in its transaction. Otherwise the statement would miss the codes that a concurrent
    rename is about to commit.
    """
    return [code for (code,) in fetch(_DELETE, {"links": list(link_ids)})]


def purge_deleted_links() -> int:
    """Delete the remaining data of links that can no longer be restored, and return their number."""
    deleted = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_DELETE_FINALLY)
            batch: int = cursor.rowcount
        deleted += batch
        if batch < _BATCH:
            return deleted
