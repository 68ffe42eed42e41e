"""The clicks of each branch of a link: of its rules and of the entries of its split."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from typing import NamedTuple

from django.db import connection

from analytics.dimensions import UNKNOWN
from links.models import Link

# A deleted branch keeps its last name and URL. The branch that was deleted last comes first.
_DELETED = """
SELECT branch, name, url FROM (
    SELECT DISTINCT ON (branch) branch, name, url, since FROM links_route
    WHERE link_id = %s AND branch = ANY(%s) ORDER BY branch, since DESC
) latest ORDER BY since DESC
"""


class Branch(NamedTuple):
    """``url`` is as entered; that of a deleted branch is canonical."""

    id: uuid.UUID
    name: str
    url: str
    clicks: int
    unique_clicks: int


def branches(link: Link, clicks: Mapping[str, int], unique_clicks: Mapping[str, int]) -> list[Branch]:
    """The link's branches, and the deleted branches that have clicks; the most clicked first, then in their order.

    ``clicks`` and ``unique_clicks`` are values of the roll-ups. One query, and none if no deleted branch has clicks.
    """
    current = [(uuid.UUID(entry["_id"]), entry["name"], entry["url"]) for entry in [*link.rules, *link.split]]
    deleted = {uuid.UUID(value) for value in clicks if value != UNKNOWN} - {
        branch for branch, _, _ in current
    }
    report = [
        Branch(branch, name, url, clicks.get(str(branch), 0), unique_clicks.get(str(branch), 0))
        for branch, name, url in [*current, *_deleted(link, deleted)]
    ]
    return sorted(report, key=lambda branch: -branch.clicks)


def _deleted(link: Link, branches: Collection[uuid.UUID]) -> list[tuple[uuid.UUID, str, str]]:
    if not branches:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_DELETED, [link.pk, list(branches)])
        rows: list[tuple[uuid.UUID, str, str]] = cursor.fetchall()
        return rows
