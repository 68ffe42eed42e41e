"""Lists the tags of a workspace, with the number of links and clicks of each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from accounts.models import Workspace
from common.database import fetch, fetch_with
from common.errors import NotFound
from common.pages import Page, Window, page_of
from links.selectors import tag_key

# The links of a tag, or its row if it has a colour or a chosen spelling but no link.
_TAGS = """
WITH counted AS (
    SELECT tag_key AS key, sum(links)::bigint AS links, array_agg(link_id) AS link_ids FROM links_tagtotals
    WHERE owner_id = %(owner)s AND {key} GROUP BY tag_key
), tag AS (SELECT tag_key, name, color FROM (
    SELECT key AS tag_key, name, color FROM links_tag WHERE owner_id = %(owner)s
) t WHERE {key}), listed AS (
    SELECT coalesce(c.key, t.tag_key) AS key, coalesce(c.links, 0) AS links, c.link_ids, t.name, t.color
    FROM counted c FULL JOIN tag t ON t.tag_key = c.key
)
"""
_ANY = "true"
_CONTAINING = "strpos(tag_key, %(search)s) > 0"
_ONE = "tag_key = %(tag)s"
# The spelling is that of a link that has the tag.
_ROWS = """
SELECT (SELECT count(*) FROM listed), page.key, page.links, page.name, page.color, (
    SELECT l.tags FROM links_link l
    WHERE l.id = ANY(page.link_ids) AND l.owner_id = %(owner)s AND page.key = ANY(l.tag_keys) AND page.name IS NULL
    ORDER BY l.id DESC LIMIT 1
)
FROM (VALUES (1)) one LEFT JOIN (
    SELECT * FROM listed WHERE {after} ORDER BY {order} LIMIT %(limit)s OFFSET %(offset)s
) page ON true ORDER BY {order}
"""
_NAME = 'key COLLATE "C"'
# In the order of names alone, the number of links is not compared.
_AFTER_NAME = f"{_NAME} {{after_name}} %(place_name)s"
_AFTER_LINKS = f"(links {{after_links}} %(place_links)s OR links = %(place_links)s AND {_AFTER_NAME})"
# Only links with clicks are read, so that a large workspace with few clicked links is quick. With clicks of a million
# links it takes two seconds.
CLICKS_SECONDS = 20
_CLICKS = """
SELECT tag, sum(n.clicks)::bigint
FROM links_clickcounter n JOIN links_searchable s ON s.link_id = n.link_id, unnest(s.tag_keys) tag
WHERE n.owner_id = %(owner)s AND n.clicks > 0 AND tag = ANY(%(keys)s::text[]){among}
GROUP BY tag
"""


# Of more tags, it is faster to compare each tag of each link.
_FEW_TAGS = 50
_AMONG = " AND s.tag_keys && %(keys)s::text[]"


class TagRow(NamedTuple):
    """``clicks`` are those of its links so far, also from the time before they had the tag; None if they are not
    added up.
    """

    key: str
    name: str
    color: str | None
    links: int
    clicks: int | None


def list_tags(
    owner: Workspace, window: Window, *, search: str, sort_by: str, sort_order: str, with_clicks: bool
) -> Page[TagRow]:
    """One page, in one query, and two more for the clicks."""
    values: dict[str, Any] = {"owner": owner.pk, "search": tag_key(search)}
    values |= {"limit": window.rows, "offset": window.offset}
    by_links = sort_by == "linkCount"
    # Tags with the same number of links are always in the order of their names.
    links_rise, names_rise = sort_order == "asc", by_links or sort_order == "asc"
    if window.is_backward:
        links_rise, names_rise = not links_rise, not names_rise
    order = f"{_NAME} {'ASC' if names_rise else 'DESC'}"
    if by_links:
        order = f"links {'ASC' if links_rise else 'DESC'}, {order}"
    after = _ANY
    if window.place is not None:
        values["place_links"], values["place_name"] = window.place.key
        signs = {"after_links": "<>"[links_rise], "after_name": "<>"[names_rise]}
        after = (_AFTER_LINKS if by_links else _AFTER_NAME).format(**signs)
    [total, rows] = _read(_CONTAINING if values["search"] else _ANY, order, values, after)
    if window.is_backward:
        rows.reverse()
    page = page_of(rows, window, total, lambda row: (row.links, row.key))
    return replace(page, rows=_with_clicks(owner, page.rows)) if with_clicks else page


def tag_in_path(segment: str) -> str:
    """The tag that a segment of a path names. Servers decode a path once, so a slash is encoded twice: ``%252F``."""
    return re.sub("%2F", "/", segment, flags=re.IGNORECASE)


def get_tag(owner: Workspace, name: str) -> TagRow:
    """Raises NotFound."""
    found = find_tag(owner, name)
    if found is None:
        raise NotFound("Tag not found.")
    return found


def find_tag(owner: Workspace, name: str) -> TagRow | None:
    if not (key := _storable_key(name)):
        return None
    _, rows = _read(_ONE, "key", {"owner": owner.pk, "tag": key, "limit": 1, "offset": 0})
    return next(iter(rows), None)


def _storable_key(name: str) -> str:
    """Empty for a text that no tag can have."""
    key = tag_key(name)
    return "" if re.search("[\0\ud800-\udfff]", key) else key


def _read(condition: str, order: str, values: dict[str, Any], after: str = _ANY) -> tuple[int, list[TagRow]]:
    rows = fetch(_TAGS.format(key=condition) + _ROWS.format(order=order, after=after), values)
    total = rows[0][0]
    return total, [
        TagRow(key, name or _spelled(key, tags or ()), color, links, None)
        for _, key, links, name, color, tags in rows
        if key is not None
    ]


def _spelled(key: str, tags: Iterable[str]) -> str:
    """The tag as the links have it; the key itself if no link is known to have it any more."""
    return next((tag for tag in tags if tag_key(tag) == key), key)


def _with_clicks(owner: Workspace, rows: list[TagRow]) -> list[TagRow]:
    if not rows:
        return rows
    limits = f"SET LOCAL statement_timeout = '{CLICKS_SECONDS}s'"
    text = _CLICKS.format(among=_AMONG if len(rows) <= _FEW_TAGS else "")
    values = {"owner": owner.pk, "keys": [row.key for row in rows]}
    clicks = dict(fetch_with(limits, text, values, seconds=CLICKS_SECONDS))
    return [row._replace(clicks=clicks.get(row.key, 0)) for row in rows]
