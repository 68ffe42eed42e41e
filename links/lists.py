"""Lists of an owner's links. Their SQL is our own: at a million links its shape decides their speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from accounts.models import User
from links import searches
from links.searches import Found, Search
from links.selectors import LinkRow, link_rows, totals


@dataclass(frozen=True, slots=True)
class LinkPage:
    rows: list[LinkRow]
    total: int
    total_is_capped: bool


class _Sort(NamedTuple):
    """How to walk an owner's links in order: an index of ``source`` has the owner, the key and the identifier."""

    source: str
    owner: str
    key: str
    identifier: str


_SORTS = {
    "createdAt": _Sort("links_searchable s", "s.owner_id", "s.created_at", "s.link_id"),
    "title": _Sort("links_link l", "l.owner_id", "(coalesce(l.title, '') COLLATE \"C\")", "l.id"),
    "clickCount": _Sort("links_clickcounter n", "n.owner_id", "n.clicks", "n.link_id"),
}
_BY_DATE = _SORTS["createdAt"]
_DIRECTIONS = {"asc": ("ASC", "DESC"), "desc": ("DESC", "ASC")}
# How many links are read in the order in which they lie, in the time that one takes that lies anywhere.
_IN_PLACE = 16
# Out of the first that are in order or, where those do not suffice, out of all.
_NEAR_OR_ALL = """
WITH near AS MATERIALIZED (
    SELECT s.id, s.key FROM ({first} ORDER BY key {direction}, id {direction} LIMIT {steps}) s
    WHERE {match} LIMIT {needed}
)
SELECT id, key FROM near WHERE (SELECT count(*) FROM near) = {needed}
UNION ALL
SELECT id, key FROM ({everything}) a WHERE (SELECT count(*) FROM near) < {needed}
"""


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
    wanted = searches.search_for(search, tags, is_active)
    if wanted:
        found = searches.find(wanted, values, forward if sort is _BY_DATE else "DESC")
        total, capped = found.total, found.is_capped
        values |= wanted.values | {"ids": found.ids}
        candidates = _found(sort, wanted, found, direction, offset + limit)
    else:
        sums = totals(owner)
        total = {None: sums.links, True: sums.active_links, False: sums.links - sums.active_links}[is_active]
        # A few among many are not looked for by walking through all of them.
        few = is_active is not None and total <= searches.COUNT_LIMIT
        active = searches.activity(is_active)
        candidates = _fetched(sort, f"ARRAY({searches.owned(active)})") if few else _walk(sort, active)
    if offset >= total and not capped:
        return LinkPage([], total, capped)
    if not capped and offset > total // 2:
        # The far half is nearer from the other end, and the last page as cheap as the first.
        direction = backward
        offset, limit = max(0, total - offset - limit), min(limit, total - offset)
    values |= {"limit": limit, "offset": offset}
    return LinkPage(link_rows(candidates, values, direction=direction, order=forward), total, capped)


def _found(sort: _Sort, search: Search, found: Found, direction: str, needed: int) -> str:
    """Candidates for a page that ends ``needed`` links after the first."""
    by_date = sort is _BY_DATE
    if not found.is_capped or (by_date and found.are_first and needed <= searches.COUNT_LIMIT):
        return _fetched(sort, "%(ids)s::bigint[]")
    if not search.is_looked_up or (by_date and found.near > searches.COUNT_LIMIT):
        return _walk(sort, search.match)
    if by_date and search.is_looked_up_by_period:
        return searches.matching_by_period(search, direction, needed)
    everything = _fetched(sort, f"ARRAY({searches.matching(search)})")
    # Twice as far as it takes if the links that match are spread evenly; not, if that is dearer than all that match.
    steps = 2 * needed * searches.REACH // max(found.near, 1)
    expected = found.links * found.near // searches.REACH
    if steps > expected * (_IN_PLACE if by_date else 1):
        return everything
    return _NEAR_OR_ALL.format(
        first=_walk(sort, "true", ", s.*"),
        match=search.match,
        everything=everything,
        direction=direction,
        steps=steps,
        needed=needed,
    )


def _walk(sort: _Sort, match: str, columns: str = "") -> str:
    """Candidates out of the index that has them in order."""
    source = sort.source
    if sort is not _BY_DATE and (match != "true" or columns):
        source += f" JOIN links_searchable s ON s.link_id = {sort.identifier}"
    return (
        f"SELECT {sort.identifier} AS id, {sort.key} AS key{columns} FROM {source}"  # noqa: S608 # constants
        f" WHERE {sort.owner} = %(owner)s AND {match}"
    )


def _fetched(sort: _Sort, identifiers: str) -> str:
    """Candidates that are few: all are fetched, then sorted. The fence keeps the planner from walking instead."""
    return (
        f"SELECT {sort.identifier} AS id, {sort.key} AS key FROM {sort.source}"  # noqa: S608 # constants
        f" WHERE {sort.identifier} = ANY({identifiers}) OFFSET 0"
    )
