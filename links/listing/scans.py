"""Queries for candidates of a page: the id and the sort key of links, to be sorted and cut."""

from __future__ import annotations

from typing import NamedTuple

from links.listing.options import ListOptions


class Sort(NamedTuple):
    """How to scan an owner's links in order: ``source`` has an index on the owner, the key and the identifier."""

    source: str
    owner: str
    key: str
    identifier: str


SORTS = {
    "createdAt": Sort("links_searchable s", "s.owner_id", "s.created_at", "s.link_id"),
    "title": Sort("links_link l", "l.owner_id", "(coalesce(l.title, '') COLLATE \"C\")", "l.id"),
    "clickCount": Sort("links_clickcounter n", "n.owner_id", "n.clicks", "n.link_id"),
}
BY_DATE = SORTS["createdAt"]
# Forward and backward.
DIRECTIONS = {"asc": ("ASC", "DESC"), "desc": ("DESC", "ASC")}
# Match the first links in sort order; if too few match, match all links.
_NEAR_OR_ALL = """
WITH near AS MATERIALIZED (
    SELECT s.id, s.key FROM ({first} ORDER BY key {direction}, id {direction} LIMIT {steps}) s
    WHERE {match} LIMIT {needed}
)
SELECT id, key FROM near WHERE (SELECT count(*) FROM near) = {needed}
UNION ALL
SELECT id, key FROM ({everything}) a WHERE (SELECT count(*) FROM near) < {needed}
"""


class Slice(NamedTuple):
    """The rows of a page, counted from the end of the list that ``direction`` starts at."""

    direction: str
    offset: int
    limit: int

    @property
    def end(self) -> int:
        return self.offset + self.limit


def slice_of_page(options: ListOptions, total: int, *, is_capped: bool) -> Slice:
    """The rows to read for a page of a list with ``total`` links, or more if it ``is_capped``."""
    forward, backward = DIRECTIONS[options.sort_order]
    offset, limit = options.offset, options.limit
    if is_capped or offset <= total // 2:
        return Slice(forward, offset, limit)
    # Read the second half from the other end, so that the last page costs as little as the first.
    return Slice(backward, max(0, total - offset - limit), min(limit, total - offset))


def scan(sort: Sort, match: str, columns: str = "") -> str:
    """A query that reads candidates from an index in sort order."""
    source = sort.source
    if sort is not BY_DATE and (match != "true" or columns):
        source += f" JOIN links_searchable s ON s.link_id = {sort.identifier}"
    return (
        f"SELECT {sort.identifier} AS id, {sort.key} AS key{columns} FROM {source}"  # noqa: S608 # constants
        f" WHERE {sort.owner} = %(owner)s AND {match}"
    )


def fetch_candidates(sort: Sort, identifiers: str) -> str:
    """A query that fetches a few candidates, to be sorted later. OFFSET 0 stops the planner from an index scan."""
    return (
        f"SELECT {sort.identifier} AS id, {sort.key} AS key FROM {sort.source}"  # noqa: S608 # constants
        f" WHERE {sort.identifier} = ANY({identifiers}) OFFSET 0"
    )


def near_or_all(first: str, match: str, everything: str, *, direction: str, steps: int, needed: int) -> str:
    """A query for the first ``needed`` links that match, if they are among the first ``steps`` of ``first``.

    Otherwise ``everything``. ``match`` is a condition on a row ``s`` of ``first``.
    """
    return _NEAR_OR_ALL.format(
        first=first, match=match, everything=everything, direction=direction, steps=steps, needed=needed
    )
