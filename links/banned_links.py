"""Finds the links of a workspace that bans block, for lists by status.

The search index has the links whose URLs contain a name of a banned host. The conditions here and `links_is_banned`
(links/migrations/sql/bans.sql) must know every kind of ban.
"""

from __future__ import annotations

from bans.hosts import NAMES_IN_URLS
from common.database import fetch
from links.search_index import SEARCH_KEYS

# Of more, a list looks at each link on its way.
FEW_BANNED = 20_000
# If 5 % of so many at both ends of a list are banned, more are expected: the index takes long to collect them.
_SAMPLE = 250
_NAMES = f"({NAMES_IN_URLS}) names"
_HOST = "split_part(split_part(split_part(split_part(l.destination, '/', 3), '?', 1), '#', 1), ':', 1)"
# On a row of `links_link l`. Mostly its host decides, else the function, which takes thirty times as long.
_LEADS_TO_BANNED = f"""(
    {_HOST} LIKE ANY (ARRAY(
        SELECT pattern
        FROM {_NAMES}, replace(name, '_', '\\_') escaped, unnest(ARRAY[escaped, '%%.' || escaped]) pattern
    ))
    OR EXISTS (SELECT FROM unnest(l.other_destinations || l.destination) url WHERE bans_is_host_banned(url))
)"""  # noqa: S608 # composed of constants
_IS_OWNER_BANNED = "(SELECT EXISTS (SELECT FROM bans_ban WHERE owner_id = %(owner)s))"
# Of a row of `links_searchable s`, whose content has all URLs to which the link can lead.
_IS_ROW_BANNED = f"""(
    {_IS_OWNER_BANNED} OR s.link_id IN (SELECT link_id FROM links_linkban)
    OR s.content LIKE ANY (ARRAY(SELECT '%%' || name || '%%' FROM {_NAMES}))
        AND (SELECT {_LEADS_TO_BANNED} FROM links_link l WHERE l.id = s.link_id)
)"""  # noqa: S608 # composed of constants
_END = """(
    SELECT {place} AS place, * FROM links_searchable s
    WHERE owner_id = %(owner)s AND {{listed}} AND (SELECT EXISTS (SELECT FROM bans_ban))
    ORDER BY created_at {direction}, link_id {direction} LIMIT %(sample)s
)"""
# The first row is null if many are expected. Then the other rows are those of bans of single links.
_BANNED_LINKS = f"""
WITH sample AS (
    SELECT count(*) FILTER (WHERE {_IS_ROW_BANNED}) AS banned, count(*) AS links FROM (
        {_END.format(place=1, direction="ASC")} UNION ALL {_END.format(place=2, direction="DESC")}
    ) s GROUP BY place
), many AS MATERIALIZED (
    SELECT FROM sample HAVING min(banned) > %(sample)s / 20 AND min(banned) * (
        SELECT sum(t.links) FROM links_ownertotals t WHERE t.owner_id = %(owner)s
    ) > %(few)s * max(links)
)
SELECT NULL FROM many
UNION ALL SELECT DISTINCT link_id FROM (
    SELECT s.link_id FROM links_linkban b JOIN links_searchable s ON s.link_id = b.link_id
    WHERE s.owner_id = %(owner)s AND {{listed}}
    UNION ALL
    SELECT s.link_id FROM links_searchable s
    WHERE s.owner_id = %(owner)s AND {_IS_OWNER_BANNED} AND NOT EXISTS (SELECT FROM many) AND {{listed}}
    UNION ALL
    SELECT s.link_id FROM (SELECT name FROM {_NAMES} WHERE NOT EXISTS (SELECT FROM many)) names CROSS JOIN LATERAL (
        SELECT s.link_id FROM links_searchable s JOIN links_link l ON l.id = s.link_id
        WHERE {SEARCH_KEYS} @@ quote_literal('#' || %(owner)s)::tsquery
            AND {SEARCH_KEYS} @@ links_hint('{{{{}}}}', '{{{{}}}}', right(name, 32))
            AND strpos(s.content, name) > 0 AND {{listed}} AND {_LEADS_TO_BANNED}
    ) s
    LIMIT %(few)s + 1
) banned
"""  # noqa: S608 # composed of constants
BANNED = "SELECT unnest(%(banned)s::bigint[])"


def banned_links(owner: int, listed: str) -> tuple[int, ...] | None:
    """The primary keys of the owner's banned links that meet ``listed``, a condition on `links_searchable s`.

    None if there are more than ``FEW_BANNED``, or probably.
    """
    found = fetch(_BANNED_LINKS.format(listed=listed), {"owner": owner, "few": FEW_BANNED, "sample": _SAMPLE})
    links = tuple(link for (link,) in found)
    return None if None in links or len(links) > FEW_BANNED else links


def is_banned(banned: tuple[int, ...] | None) -> str:
    """The condition on a row of `links_searchable s`. ``banned``: of `banned_links`, also the parameter."""
    if banned is None:
        return _IS_ROW_BANNED
    return f"s.link_id IN ({BANNED})" if banned else "false"
