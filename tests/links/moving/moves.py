"""Helpers for moves of links between workspaces."""

from __future__ import annotations

from typing import Any

from django.db import connection
from rest_framework.test import APIClient

from accounts.models import Workspace
from analytics.counting.audit import differences
from testing.links.many import results

# Rows that contradict those of the links.
INCONSISTENT = """
SELECT 'totals', owner_id::text FROM (
    SELECT owner_id, sum(links) AS links, sum(active_links) AS active, sum(clicks) AS clicks
    FROM links_ownertotals GROUP BY 1
) t FULL JOIN (
    SELECT l.owner_id, count(*) AS links, count(*) FILTER (WHERE l.is_active) AS active, sum(n.clicks) AS clicks
    FROM links_link l JOIN links_clickcounter n ON n.link_id = l.id GROUP BY 1
) l USING (owner_id)
WHERE (coalesce(t.links, 0), coalesce(t.active, 0), coalesce(t.clicks, 0))
    <> (coalesce(l.links, 0), coalesce(l.active, 0), coalesce(l.clicks, 0))
UNION ALL
SELECT 'tags', tag FROM (
    SELECT owner_id, tag_key AS tag, sum(links) AS links, sum(active_links) AS active
    FROM links_tagtotals GROUP BY 1, 2
) t FULL JOIN (
    SELECT owner_id, unnest(tag_keys) AS tag, count(*) AS links, count(*) FILTER (WHERE is_active) AS active
    FROM links_link GROUP BY 1, 2
) l USING (owner_id, tag) WHERE (t.links, t.active) IS DISTINCT FROM (l.links, l.active)
UNION ALL
SELECT 'copies', l.id::text FROM links_link l
JOIN links_clickcounter n ON n.link_id = l.id JOIN links_searchable s ON s.link_id = l.id
WHERE n.owner_id <> l.owner_id OR s.owner_id <> l.owner_id
"""


def move(client: APIClient, target: Workspace, *ids: str) -> list[dict[str, Any]]:
    body = {"ids": ids, "workspaceId": str(target.public_id)}
    return results(client.post("/api/urls/move", body), "moved")


def reasons(verdicts: list[dict[str, Any]]) -> list[tuple[int, str | None]]:
    return [(verdict["status"], verdict.get("code")) for verdict in verdicts]


def inconsistencies() -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(INCONSISTENT)
        rows: list[Any] = cursor.fetchall()
    return [*rows, *differences()]
