"""Deletes former URLs of branches that no click and no report needs. Every host may run this concurrently."""

from __future__ import annotations

from django.db import connection

from analytics.counting.record_times import OLDEST_DAYS
from analytics.models import Dimension

MAX_FORMER_URLS = 1_000

# Reports show the last name and URL of a deleted branch. Branches keep their number.
_HAS_LATER_ROW = """
EXISTS (
    SELECT FROM links_route later WHERE later.link_id = r.link_id AND later.number = r.number
    AND later.branch IS NOT DISTINCT FROM r.branch AND (later.since, later.id) > (r.since, r.id)
)
"""
# The clicks of a month are deleted together. A host may still deliver clicks that are OLDEST_DAYS old.
_UNUSED_BY_CLICKS = f"""
DELETE FROM links_route WHERE id IN (
    SELECT id FROM links_route r WHERE until < least(
        date_trunc('month', (now() AT TIME ZONE 'UTC')::date - %(days)s::integer) AT TIME ZONE 'UTC',
        now() - %(oldest)s * interval '1 day'
    ) AND {_HAS_LATER_ROW} FOR UPDATE SKIP LOCKED
)
"""  # noqa: S608 # composed of constants
_LINKS = "SELECT link_id FROM links_route WHERE until IS NOT NULL GROUP BY link_id HAVING count(*) > %(most)s"
_EXCESS = f"""
DELETE FROM links_route WHERE id IN (
    SELECT id FROM links_route r
    WHERE id = ANY(ARRAY(
        SELECT id FROM links_route WHERE link_id = %(link)s AND until IS NOT NULL
        ORDER BY until DESC, id DESC OFFSET %(most)s
    )) AND ({_HAS_LATER_ROW} OR (
        until < now() - %(oldest)s * interval '1 day'
        AND NOT EXISTS (
            SELECT FROM analytics_lifecount c
            WHERE c.link_id = r.link_id AND c.dimension = %(dimension)s AND c.value = r.branch::text
        )
        AND NOT EXISTS (
            SELECT FROM analytics_daycount c
            WHERE c.link_id = %(link)s AND c.dimension = %(dimension)s AND c.value = r.branch::text
        )
    )) FOR UPDATE SKIP LOCKED
)
"""  # noqa: S608 # composed of constants


def delete_former_routes(retention_days: int) -> None:
    """Delete former URLs that are older than the raw clicks, and all but the newest 1,000 of each link.

    The last row of a branch with clicks stays. ``retention_days`` is CLICK_RETENTION_DAYS; 0 keeps raw clicks.
    """
    oldest = OLDEST_DAYS + 1
    with connection.cursor() as cursor:
        if retention_days:
            cursor.execute(_UNUSED_BY_CLICKS, {"days": retention_days, "oldest": oldest})
        cursor.execute(_LINKS, {"most": MAX_FORMER_URLS})
        parameters = {"most": MAX_FORMER_URLS, "oldest": oldest, "dimension": int(Dimension.BRANCH)}
        for (link_id,) in cursor.fetchall():
            cursor.execute(_EXCESS, parameters | {"link": link_id})
