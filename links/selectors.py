"""Reads of an owner's links, one or in sum. Lists of them are in ``links.lists``."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from accounts.models import User
from common.errors import NotFound
from common.ids import parse_public_id
from links.models import Link

TOP_LINKS = 5


class LinkRow(NamedTuple):
    public_id: uuid.UUID
    original_url: str
    short_code: str
    custom_code: str | None
    host: str | None
    title: str | None
    clicks: int
    is_active: bool
    created_at: datetime


class ExportedLink(NamedTuple):
    """A link with all that is told of it, in the order of its export's statement."""

    public_id: uuid.UUID
    host: str | None
    short_code: str
    custom_code: str | None
    aliases: list[str]
    original_url: str
    title: str | None
    description: str | None
    tags: list[str]
    is_active: bool
    expires_at: datetime | None
    has_password: bool
    max_clicks: int | None
    allowed_countries: list[str]
    blocked_countries: list[str]
    allowed_devices: list[str]
    redirect_type: int
    clicks: int
    created_at: datetime
    updated_at: datetime
    utm: dict[str, str]


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


_ROWS = """
SELECT l.public_id, l.original_url, l.short_code, l.custom_code, d.host, l.title, n.clicks, l.is_active, l.created_at
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
_BY_CLICKS = "SELECT link_id AS id, clicks AS key FROM links_clickcounter WHERE owner_id = %(owner)s"


def get_link(owner: User, public_id: str, *, lock: bool = False) -> Link:
    """Raises NotFound, for another owner's link and for what is no id as for none.

    ``lock`` keeps other writers out until the commit.
    """
    identifier = parse_public_id(public_id)
    links = Link.objects.select_related("domain", "counter")
    if lock:
        links = links.select_for_update(of=("self",))
    link = None if identifier is None else links.filter(owner=owner, public_id=identifier).first()
    if link is None:
        raise NotFound("URL not found.")
    return link


def overview(owner: User) -> Overview:
    top = link_rows(
        _BY_CLICKS, {"owner": owner.pk, "limit": TOP_LINKS, "offset": 0}, direction="DESC", order="DESC"
    )
    return Overview(*totals(owner), top)


def totals(owner: User) -> Totals:
    [sums] = fetch(_TOTALS, {"owner": owner.pk})
    return Totals(*sums)


def installation_totals() -> Totals:
    """Of all owners together."""
    [sums] = fetch(_INSTALLATION, {})
    return Totals(*sums)


def link_rows(candidates: str, values: dict[str, Any], *, direction: str, order: str) -> list[LinkRow]:
    """``limit`` links from ``offset`` on, of candidates (id, key) sorted in one direction and shown in an order."""
    query = _ROWS.format(candidates=candidates, direction=direction, order=order)
    return [LinkRow(*row) for row in fetch(query, values)]


def tag_key(tag: str) -> str:
    """What two spellings of one tag share."""
    return tag.strip().casefold()


def fetch(query: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
