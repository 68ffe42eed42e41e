"""The links that visitors have followed most recently."""

from __future__ import annotations

from collections import Counter

from django.db import connection

# The end of the raw clicks that is read, in pages of the database: about 64 MB, or half a million clicks.
PAGES = 8_192
_PARTITIONS = """
SELECT inhrelid::regclass::text, pg_relation_size(inhrelid) / current_setting('block_size')::bigint
FROM pg_inherits WHERE inhparent = 'analytics_rawclick'::regclass ORDER BY 1 DESC
"""
# Rows are stored in the order of their insertion: the last pages hold the last clicks. No index has this order.
_LAST_CLICKS = "SELECT link_id, count(*) FROM ONLY {table} WHERE ctid >= '({page},0)'::tid GROUP BY link_id"


def recently_followed(limit: int) -> list[int]:
    """Return ids of links, those with the most recent clicks first. Reads a bounded part of the clicks."""
    clicks, pages = Counter[int](), PAGES
    with connection.cursor() as cursor:
        cursor.execute(_PARTITIONS)
        for table, size in cursor.fetchall():
            if size and pages > 0:
                cursor.execute(_LAST_CLICKS.format(table=table, page=max(0, size - pages)))
                clicks.update(dict(cursor.fetchall()))
                pages -= size
    return [link_id for link_id, _ in clicks.most_common(limit)]
