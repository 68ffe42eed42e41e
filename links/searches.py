"""Which of an owner's links match a text, tags or whether they are active."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from links.selectors import fetch, tag_key

# What is found is counted up to here: further down a total costs more than anybody gains from it.
COUNT_LIMIT = 1_000
# So many links are read one after the other before the index is asked, which is slow for what is common.
REACH = 5_000


class Search(NamedTuple):
    """What links must match, and what of it the index can look up: all of an owner's links, or period by period."""

    match: str
    is_looked_up: bool
    is_looked_up_by_period: bool
    values: dict[str, Any]


class Found(NamedTuple):
    """``ids`` are all, or one more than are counted; ``near`` of them are among the first ``REACH`` of ``links``."""

    links: int
    near: int
    ids: list[int]
    are_first: bool

    @property
    def is_capped(self) -> bool:
        return len(self.ids) > COUNT_LIMIT

    @property
    def total(self) -> int:
        return min(len(self.ids), COUNT_LIMIT)


_KEYS = "links_keys(s.owner_id, links_period(s.created_at), s.is_active, s.tag_keys, s.content)"
# Two conditions and not one, so that each lets the index skip what the other rules out. A term may leave no hint.
_LOOKED_UP = (
    f"{_KEYS} @@ quote_literal({{mark}})::tsquery AND {{match}} AND {_KEYS} @@ coalesce("
    "links_hint(%(marks)s::text[], %(tags)s::text[], lower(%(term)s)), quote_literal({mark})::tsquery)"
)
_PERIOD = "(SELECT links_period({end}(created_at)) FROM links_searchable WHERE owner_id = %(owner)s)"
# The newest first or the oldest, and only as many periods as it takes.
_BY_PERIOD = """
SELECT f.id, f.key FROM generate_series({first}, {last}, {step}) period CROSS JOIN LATERAL (
    SELECT s.link_id AS id, s.created_at AS key FROM links_searchable s WHERE s.owner_id = %(owner)s AND {match}
    ORDER BY s.created_at {direction}, s.link_id {direction} LIMIT {limit}
) f LIMIT {limit}
"""
_FOUND = """
SELECT links, cardinality(near.ids), CASE
    WHEN cardinality(near.ids) > {limit} OR links <= {reach} THEN near.ids
    ELSE ARRAY(SELECT id FROM ({candidates}) c LIMIT {limit} + 1)
END
FROM (SELECT coalesce(sum(links), 0)::bigint AS links FROM links_ownertotals WHERE owner_id = %(owner)s) totals, (
    SELECT ARRAY(
        SELECT s.link_id FROM (
            SELECT * FROM links_searchable WHERE owner_id = %(owner)s
            ORDER BY created_at {direction}, link_id {direction} LIMIT {reach}
        ) s WHERE {match} LIMIT {limit} + 1
    ) AS ids OFFSET 0
) near
"""


def search_for(text: str, tags: str, is_active: bool | None) -> Search | None:
    """None, when links need match neither text nor tags."""
    match = [activity(is_active)]
    wanted = [key for tag in tags.split(",") if (key := tag_key(tag))]
    if text:
        match.append("strpos(s.content, lower(%(search)s)) > 0")
    if wanted:
        match.append("s.tag_keys && %(tags)s::text[]")
    if len(match) == 1:
        return None
    marks = ["#inactive"] if is_active is False else []
    values = {"search": text, "term": telling_part(text), "tags": wanted, "marks": marks}
    # Any one letter or digit is in so many codes that the index would find nearly everything.
    is_looked_up = bool(wanted or not re.fullmatch("[A-Za-z0-9]", text))
    # What is shorter than a key begins many, and all of them would be read for each period.
    return Search(" AND ".join(match), is_looked_up, is_looked_up and len(text) not in (1, 2), values)


def activity(is_active: bool | None) -> str:
    return {None: "true", True: "s.is_active", False: "NOT s.is_active"}[is_active]


def find(search: Search, values: dict[str, Any], direction: str) -> Found:
    """The first that match, where the index can tell which are the first, or any."""
    by_period = search.is_looked_up_by_period
    candidates = matching_by_period(search, direction, COUNT_LIMIT + 1) if by_period else matching(search)
    query = _FOUND.format(
        limit=COUNT_LIMIT, reach=REACH, candidates=candidates, direction=direction, match=search.match
    )
    [(links, near, ids)] = fetch(query, values | search.values)
    return Found(links, near, ids, are_first=by_period or near > COUNT_LIMIT)


def matching(search: Search) -> str:
    """All that match."""
    match = search.match
    if search.is_looked_up:
        match = _LOOKED_UP.format(mark="'#' || %(owner)s", match=match)
    return owned(match)


def owned(match: str) -> str:
    return f"SELECT s.link_id AS id FROM links_searchable s WHERE s.owner_id = %(owner)s AND {match}"  # noqa: S608 # constants


def matching_by_period(search: Search, direction: str, limit: int) -> str:
    """The first that match, by their creation."""
    first, last, step = ("max", "min", -1) if direction == "DESC" else ("min", "max", 1)
    return _BY_PERIOD.format(
        first=_PERIOD.format(end=first),
        last=_PERIOD.format(end=last),
        step=step,
        match=_LOOKED_UP.format(mark="'#' || %(owner)s || '/' || period", match=search.match),
        direction=direction,
        limit=limit,
    )


def telling_part(text: str) -> str:
    """The part that is looked up: of a pasted address not the host, which an owner's links often have in common."""
    part = re.sub(r"(?i)^https?://(www\.)?([^/]*(?=/.{5}))?", "", text)[-32:]
    return part if len(part) > 2 else text
