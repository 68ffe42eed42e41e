"""The part of a link's clicks that an import brought."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import connection

_LOCK = "SELECT FROM links_clickcounter WHERE link_id = ANY(%s) ORDER BY link_id FOR NO KEY UPDATE"
_RAISE = """
UPDATE links_clickcounter c
SET clicks = c.clicks + imported.clicks - c.imported, imported = imported.clicks
FROM unnest(%s::bigint[], %s::bigint[]) imported (link_id, clicks)
WHERE c.link_id = imported.link_id AND c.imported < imported.clicks
"""


def raise_imported_clicks(clicks: Mapping[int, int]) -> None:
    """Let these links have at least so many imported clicks, in the caller's transaction.

    A link's total already contains the clicks that were imported with it, so only further clicks are added. Locks the
    counters in the order of their links, to prevent deadlocks. Call it last: the counters stay locked.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [list(clicks)])
        cursor.execute(_RAISE, [list(clicks), list(clicks.values())])
