"""Reads one link, and an owner's totals. Lists are in `links.listing.lists`."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from accounts.models import Workspace
from common.database import prepared_cursor
from common.ids import parse_public_id
from links.errors import url_not_found
from links.key_limits import condition_of
from links.link_rows import COLUMNS, IS_OWNER, JOINS, link_of
from links.models import Link

TOP_LINKS = 5


class LinkRow(NamedTuple):
    public_id: uuid.UUID
    original_url: str
    short_code: str
    custom_code: str | None
    domain_id: uuid.UUID | None
    host: str | None
    title: str | None
    tags: list[str]
    clicks: int
    is_active: bool
    expires_at: datetime | None
    has_password: bool
    redirect_type: int
    created_at: datetime
    updated_at: datetime


class Totals(NamedTuple):
    links: int
    active_links: int
    clicks: int


@dataclass(frozen=True, slots=True)
class Overview:
    links: int
    active_links: int
    clicks: int
    top: list[LinkRow]


_LINK = f"""
SELECT {COLUMNS} FROM links_link l {JOINS} WHERE l.public_id = %(link)s AND l.owner_id {IS_OWNER}
"""  # noqa: S608 # composed of constants
_LOCK = " FOR UPDATE OF l"
_LOCKED_LINK = _LINK + _LOCK
_ROWS = """
SELECT l.public_id, l.original_url, l.short_code, l.custom_code, d.public_id, d.host, l.title, l.tags, n.clicks,
    l.is_active, l.expires_at, l.password IS NOT NULL, l.redirect_type, l.created_at, l.updated_at
FROM (
    SELECT id, key FROM ({candidates}) c ORDER BY key {direction}, id {direction} LIMIT %(limit)s OFFSET %(offset)s
) page
JOIN links_link l ON l.id = page.id
JOIN links_clickcounter n ON n.link_id = l.id
LEFT JOIN domains_domain d ON d.id = l.domain_id
ORDER BY page.key {order}, page.id {order}
"""
_TOTALS = """
SELECT coalesce(sum(links), 0)::bigint, coalesce(sum(active_links), 0)::bigint, coalesce(sum(clicks), 0)::bigint
FROM links_ownertotals WHERE owner_id = %(owner)s
"""
_INSTALLATION = """
SELECT coalesce(sum(links), 0)::bigint, coalesce(sum(active_links), 0)::bigint, coalesce(sum(clicks), 0)::bigint
FROM links_ownertotals
"""
_CLAIMED = """
SELECT coalesce(sum(v.clicks), 0) FROM links_visitorkey k JOIN links_visitorclicks v ON v.link_id = k.link_id
WHERE k.link_id = %(link)s
    AND v.visitor = ANY (SELECT sha256(uuid_send(k.key) || visitor) FROM unnest(%(visitors)s::bytea[]) visitor)
"""
_BY_CLICKS = "SELECT link_id AS id, clicks AS key FROM links_clickcounter WHERE owner_id = %(owner)s"
_LIMITED = "FROM links_link l JOIN links_clickcounter n ON n.link_id = l.id WHERE l.owner_id = %(owner)s"
_LIMITED_BY_CLICKS = f"SELECT l.id AS id, n.clicks AS key {_LIMITED}"
_LIMITED_TOTALS = f"""
SELECT count(*), count(*) FILTER (WHERE l.is_active), coalesce(sum(n.clicks), 0)::bigint {_LIMITED}
"""


def get_link(owner: Workspace, public_id: str, *, lock: bool = False) -> Link:
    """Raises NotFound for an unknown or malformed id, another owner's link and one outside the limits of the key.

    ``lock`` blocks other writers until the commit.
    """
    identifier = parse_public_id(public_id)
    row, query, values = None, _LOCKED_LINK if lock else _LINK, {"link": identifier, "owner": owner.pk}
    if owner.key is not None:
        condition, limits = condition_of(owner.key)
        query, values = _LINK + condition + (_LOCK if lock else ""), values | limits
    if identifier is not None:
        with prepared_cursor() as cursor:
            cursor.execute(query, values)
            row = cursor.fetchone()
    if row is None:
        raise url_not_found()
    return link_of(row)


def claimed_clicks(link_id: int, visitors: list[bytes]) -> int:
    """The clicks that a visitor has claimed of a link with a limit per visitor.

    ``visitors``: the hashes of the visitor's address, as for `links.clicks.claim_click`.
    """
    [[clicks]] = fetch(_CLAIMED, {"link": link_id, "visitors": visitors})
    return int(clicks)


def overview(owner: Workspace) -> Overview:
    """Of the links within the limits of the key."""
    condition, limits = condition_of(owner.key)
    values = {**limits, "owner": owner.pk, "limit": TOP_LINKS, "offset": 0}
    links = _LIMITED_BY_CLICKS + condition if condition else _BY_CLICKS
    top = link_rows(links, values, direction="DESC", order="DESC")
    if not condition:
        return Overview(*totals(owner), top)
    [sums] = fetch(_LIMITED_TOTALS + condition, values)
    return Overview(*Totals(*sums), top)


def totals(owner: Workspace) -> Totals:
    [sums] = fetch(_TOTALS, {"owner": owner.pk})
    return Totals(*sums)


def installation_totals() -> Totals:
    """The totals of all owners."""
    [sums] = fetch(_INSTALLATION, {})
    return Totals(*sums)


def link_rows(candidates: str, values: dict[str, Any], *, direction: str, order: str) -> list[LinkRow]:
    """Return ``limit`` links from ``offset`` on.

    ``candidates`` is a query for (id, key). ``direction`` sorts it; ``order`` sorts the returned page.
    """
    query = _ROWS.format(candidates=candidates, direction=direction, order=order)
    return [LinkRow(*row) for row in fetch(query, values)]


def tag_key(tag: str) -> str:
    """Normalize a tag: spellings that differ only in case or outer whitespace have the same key."""
    return tag.strip().casefold()


def fetch(query: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
