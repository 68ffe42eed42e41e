"""Reads of an owner's links. Lists are SQL of our own: their speed at a million links is decided by its shape."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from accounts.models import User
from common.errors import NotFound
from common.ids import parse_public_id
from links.models import Link

# A searched list is counted up to here: further down a total costs more than anybody gains from it.
COUNT_LIMIT = 1_000
# So many links are read one after the other before the index of searches is asked, which is slow for what is common.
REACH = 10_000
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


@dataclass(frozen=True, slots=True)
class LinkPage:
    rows: list[LinkRow]
    total: int
    total_is_capped: bool


@dataclass(frozen=True, slots=True)
class Overview:
    links: int
    active_links: int
    clicks: int
    top: list[LinkRow]


class _Sort(NamedTuple):
    """How to walk an owner's links in order: an index of ``source`` has the owner, the key and the identifier."""

    source: str
    owner: str
    key: str
    identifier: str
    key_of_link: str


_TITLE = "(coalesce(l.title, '') COLLATE \"C\")"
_CLICKS = "(SELECT clicks FROM links_clickcounter WHERE link_id = l.id)"
_SORTS = {
    "createdAt": _Sort("links_link l", "l.owner_id", "l.created_at", "l.id", "l.created_at"),
    "title": _Sort("links_link l", "l.owner_id", _TITLE, "l.id", _TITLE),
    "clickCount": _Sort("links_clickcounter n", "n.owner_id", "n.clicks", "n.link_id", _CLICKS),
}
_DIRECTIONS = {"asc": ("ASC", "DESC"), "desc": ("DESC", "ASC")}

_ROWS = """
SELECT l.public_id, l.original_url, l.short_code, l.custom_code, d.host, l.title, n.clicks, l.is_active, l.created_at
FROM ({candidates} ORDER BY key {direction}, id {direction} LIMIT %(limit)s OFFSET %(offset)s) page
JOIN links_link l ON l.id = page.id
JOIN links_clickcounter n ON n.link_id = l.id
LEFT JOIN domains_domain d ON d.id = l.domain_id
ORDER BY page.key {order}, page.id {order}
"""
_NEWEST = (
    "(SELECT * FROM links_link WHERE owner_id = %(owner)s"  # noqa: S608 # put together from constants
    f" ORDER BY created_at DESC, id DESC LIMIT {REACH}) l"
)
# How many of the newest links match; and which of all do, unless those alone are too many.
_FOUND = f"""
SELECT cardinality(newest.ids), CASE
    WHEN cardinality(newest.ids) > {COUNT_LIMIT} THEN NULL
    WHEN (SELECT sum(links) FROM links_ownertotals WHERE owner_id = %(owner)s) <= {REACH} THEN newest.ids
    ELSE ARRAY(SELECT l.id FROM links_link l WHERE {{hints}} AND {{match}} LIMIT {COUNT_LIMIT + 1})
END
FROM (SELECT ARRAY(SELECT l.id FROM {_NEWEST} WHERE {{match}} LIMIT {COUNT_LIMIT + 1}) AS ids OFFSET 0) newest
"""  # noqa: S608 # put together from constants
_TOTALS = """
SELECT coalesce(sum(links), 0)::bigint, coalesce(sum(active_links), 0)::bigint, coalesce(sum(clicks), 0)::bigint
FROM links_ownertotals WHERE owner_id = %(owner)s
"""


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


def list_links(
    owner: User,
    *,
    page: int,
    limit: int,
    sort_by: str,
    sort_order: str,
    search: str = "",
    tags: str = "",
    is_active: bool | None = None,
) -> LinkPage:
    """One page, in two queries: one for the total, one for the rows."""
    sort, (forward, backward) = _SORTS[sort_by], _DIRECTIONS[sort_order]
    offset, direction, capped = (page - 1) * limit, forward, False
    values: dict[str, Any] = {"owner": owner.pk}
    match, hints = _filters(values, search, tags, is_active)
    active = [] if is_active is None else ["l.is_active" if is_active else "NOT l.is_active"]
    if match:
        match += active
        query = _FOUND.format(match=" AND ".join(match), hints=" AND ".join(hints))
        [(among_newest, ids)] = _fetch(query, values)
        capped = ids is None or len(ids) > COUNT_LIMIT
        total = COUNT_LIMIT if capped else len(ids)
        values["ids"] = ids
        sources = [_fenced(sort, hints + match if capped else ["l.id = ANY(%(ids)s)"])]
        if capped and (ids is None or among_newest > offset + limit):
            sources.insert(0, _near(sort, match, direction))
    else:
        [(links, active_links, _)] = _fetch(_TOTALS, values)
        total = {None: links, True: active_links, False: links - active_links}[is_active]
        # A few among many are not looked for by walking through all of them.
        few = is_active is not None and total <= COUNT_LIMIT
        sources = [_fenced(sort, [*hints, *active]) if few else _walk(sort, active)]
    if offset >= total and not capped:
        return LinkPage([], total, capped)
    if not capped and offset > total // 2:
        # The far half is nearer from the other end, and the last page as cheap as the first.
        direction = backward
        offset, limit = max(0, total - offset - limit), min(limit, total - offset)
    values |= {"limit": limit, "offset": offset}
    rows: list[tuple[Any, ...]] = []
    for source in sources:
        rows = _fetch(_ROWS.format(candidates=source, direction=direction, order=forward), values)
        if len(rows) == limit:
            break
    return LinkPage([LinkRow(*row) for row in rows], total, capped)


def overview(owner: User) -> Overview:
    values = {"owner": owner.pk, "limit": TOP_LINKS, "offset": 0}
    [(links, active_links, clicks)] = _fetch(_TOTALS, values)
    top = _fetch(
        _ROWS.format(candidates=_walk(_SORTS["clickCount"], []), direction="DESC", order="DESC"), values
    )
    return Overview(links, active_links, clicks, [LinkRow(*row) for row in top])


def _filters(
    values: dict[str, Any], search: str, tags: str, is_active: bool | None
) -> tuple[list[str], list[str]]:
    """What links must match by their text and tags, and how the candidates for it are found."""
    match, hints = [], ["l.owner_id = %(owner)s"]
    wanted = [key for tag in tags.split(",") if (key := tag_key(tag))]
    if search:
        values["search"] = search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        match.append("l.search_text LIKE '%%' || lower(%(search)s) || '%%'")
    if wanted:
        match.append("l.tag_keys && %(tags)s::text[]")
    # Any one letter or digit is in so many codes that the index would find nearly everything.
    if wanted or (search and not re.fullmatch("[A-Za-z0-9]", search)):
        marks = [f"#{values['owner']}"] + ["#inactive"] * (is_active is False)
        values |= {"marks": marks, "tags": wanted, "term": _telling_part(search)}
        hints.append(
            "links_keys(l.owner_id, l.is_active, l.tag_keys, l.search_text)"
            " @@ links_hint(%(marks)s::text[], %(tags)s::text[], lower(%(term)s))"
        )
    return match, hints


def _telling_part(search: str) -> str:
    """The part that is looked up: of a pasted address not the host, which an owner's links often have in common."""
    part = re.sub(r"(?i)^https?://(www\.)?([^/]*(?=/.{5}))?", "", search)[-32:]
    return part if len(part) > 2 else search


def tag_key(tag: str) -> str:
    """What two spellings of one tag share."""
    return tag.strip().casefold()


def _walk(sort: _Sort, filters: list[str], columns: str = "") -> str:
    """Candidates for a page out of the index that has them in order."""
    source = sort.source
    if (filters or columns) and source != "links_link l":
        source += f" JOIN links_link l ON l.id = {sort.identifier}"
    where = " AND ".join([f"{sort.owner} = %(owner)s", *filters])
    return f"SELECT {sort.identifier} AS id, {sort.key} AS key{columns} FROM {source} WHERE {where}"  # noqa: S608 # constants


def _near(sort: _Sort, match: list[str], direction: str) -> str:
    """Candidates among the first that are in order."""
    first = _walk(sort, [], ", l.search_text, l.tag_keys, l.is_active")
    return (
        f"SELECT id, key FROM ({first} ORDER BY key {direction}, id {direction} LIMIT {REACH}) l"  # noqa: S608 # constants
        f" WHERE {' AND '.join(match)}"
    )


def _fenced(sort: _Sort, filters: list[str]) -> str:
    """Candidates that are few: all are fetched, then sorted. The fence keeps the planner from walking instead."""
    return (
        f"SELECT id, key FROM (SELECT l.id, {sort.key_of_link} AS key FROM links_link l"  # noqa: S608 # constants
        f" WHERE {' AND '.join(filters)} OFFSET 0) l"
    )


def _fetch(query: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
