"""Totals of filtered lists: exact up to ``COUNT_LIMIT``.

They are exact without a limit for a single tag, for links without a single tag, for statuses unless more than
``COUNT_LIMIT`` links may not be active or ``FEW_BANNED`` are banned, and for the default domain unless so many are on
others.

PostgreSQL reads every match to count it, so this module keeps the counts. A count, the number of the owner's links and
the number of their changes come from one statement. On one timeline of one server, the number of changes only grows,
and a link that leaves for another owner decreases the number of links instead. So the count is valid while both stay
the same. A failover or a recovery to an earlier time starts another timeline.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from common.bounded_cache import BoundedCache
from common.database import fetch
from common.host import primary
from links import searches
from links.availability import Status
from links.searches import ALWAYS, STATUSES, Matches, Search, in_list
from links.selectors import number_of

COUNT_LIMIT = 100_000
_TOTALS = """
SELECT coalesce(sum(changes), 0)::bigint AS changes, coalesce(sum(links), 0)::bigint AS links
FROM links_ownertotals WHERE owner_id = %(owner)s
"""
_COUNT = f"""
SELECT changes, links, created_at, link_id, (SELECT count(*) FROM (SELECT FROM ({{matching}}) m LIMIT {{limit}}) c)
FROM ({_TOTALS}) totals LEFT JOIN LATERAL (
    SELECT created_at, link_id FROM links_searchable WHERE owner_id = %(owner)s
    ORDER BY created_at DESC, link_id DESC LIMIT 1
) newest ON true
"""  # noqa: S608 # composed of constants
_COUNT_NEW = f"""
SELECT changes, links, number, hits FROM ({_TOTALS}) totals, LATERAL (
    SELECT count(*) AS number, count(*) FILTER (WHERE {{match}}) AS hits FROM (
        SELECT * FROM links_searchable
        WHERE owner_id = %(owner)s AND (created_at, link_id) > (%(newest_created_at)s, %(newest_id)s)
        ORDER BY created_at, link_id LIMIT {{limit}}
    ) s
) added
"""  # noqa: S608 # composed of constants
_COUNT_BY_COLUMN = f"""
SELECT count(*) FROM (
    SELECT FROM links_link l WHERE owner_id = %(owner)s AND {{column}} AND {{listed}} LIMIT {COUNT_LIMIT + 1}
) c
"""  # noqa: S608 # composed of constants
_COUNT_REST = "SELECT count(*) FROM links_link l WHERE owner_id = %(owner)s AND {rest} AND {listed}"
_BY_STATUS = f"SELECT value, count(*) FROM ({STATUSES} LIMIT {COUNT_LIMIT + 1}) s GROUP BY 1"  # noqa: S608 # constants
_ON_OTHER_DOMAINS = """
SELECT coalesce(sum({listed}), 0)::bigint, (
    SELECT count(*) FROM (
        SELECT FROM links_searchable s WHERE s.owner_id = %(owner)s AND s.domain_id > 0 AND {match} LIMIT {limit}
    ) c
) FROM links_ownertotals WHERE owner_id = %(owner)s
"""


class Total(NamedTuple):
    """How many links match. If ``is_capped``, there are more. ``by_status``: few of all links may not be active."""

    links: int
    is_capped: bool
    by_status: bool = False


class _Count(NamedTuple):
    """The hits among the owner's ``links``, at most ``COUNT_LIMIT`` + 1, and the position of the newest link."""

    changes: int
    links: int
    newest_created_at: datetime | None
    newest_id: int | None
    hits: int

    def has_only_insertions_until(self, changes: int, links: int) -> bool:
        """Whether all changes since this count were insertions or moves to this owner.

        Each adds 1 to both numbers. All others add more to the changes than to the links.
        """
        return changes - self.changes == links - self.links


# The server with its timeline, the owner and the search.
_Key = tuple[int, int, Search]


def _size_of(key: _Key, count: _Count) -> int:
    # Python stores a character in up to four bytes.
    return 500 + 4 * len(str(key))


# Each process has its own.
kept_counts: BoundedCache[_Key, _Count] = BoundedCache(10_000, 4_000_000, _size_of)


def total_by_column(search: Search, values: dict[str, Any]) -> Total:
    """The total of a search with a ``column``."""
    listed = in_list(None, search.is_archived, "l")
    [[hits]] = fetch(_COUNT_BY_COLUMN.format(column=search.column, listed=listed), values)
    return Total(min(hits, COUNT_LIMIT), is_capped=hits > COUNT_LIMIT)


def total(search: Search, matches: Matches, values: dict[str, Any]) -> Total:
    if matches.is_complete:
        return Total(len(matches.ids), is_capped=False)
    if search == _by_domain_alone(search) and search.is_on_default_domain:
        query = _ON_OTHER_DOMAINS.format(
            listed=number_of(None, search.is_archived),
            match=in_list(None, search.is_archived),
            limit=COUNT_LIMIT + 1,
        )
        [(listed, on_other_domains)] = fetch(query, values)
        if on_other_domains <= COUNT_LIMIT:
            return Total(listed - on_other_domains, is_capped=False)
    # The totals of tags cover all dates and domains.
    is_by_tags = (
        search.created == ALWAYS
        and search.domain is None
        and not (search.text or search.changes_without_trace)
    )
    if is_by_tags and not search.excluded:
        if len(search.tags) == 1:
            return Total(sum(matches.tag_totals), is_capped=False)
        if not search.has_all_tags and max(matches.tag_totals, default=0) > COUNT_LIMIT:
            return Total(COUNT_LIMIT, is_capped=True)
    elif is_by_tags and not search.tags:
        if len(search.excluded) == 1:
            return Total(matches.not_excluded, is_capped=False)
        if matches.not_excluded > COUNT_LIMIT:
            return Total(COUNT_LIMIT, is_capped=True)
    if search.rest:
        listed = in_list(None, search.is_archived, "l")
        [[rest]] = fetch(_COUNT_REST.format(rest=search.rest, listed=listed), values)
        return Total(matches.listed - rest, is_capped=False)
    if search.statuses and search.banned is not None and search.without_status.is_everything:
        by_status = _total_by_status(search, matches, values)
        if by_status is not None:
            return by_status
    hits = _hits(search, matches, values)
    return Total(min(hits, COUNT_LIMIT), is_capped=hits > COUNT_LIMIT)


def _total_by_status(search: Search, matches: Matches, values: dict[str, Any]) -> Total | None:
    """None if too many links may not be active."""
    counts = dict(fetch(_BY_STATUS.format(listed=in_list(None, search.is_archived, "l")), values))
    read = sum(counts.values())
    if None in counts or read > COUNT_LIMIT:
        return None
    counts[Status.ACTIVE] = counts.get(Status.ACTIVE, 0) + matches.listed - read
    return Total(sum(counts.get(status, 0) for status in search.statuses), is_capped=False, by_status=True)


def links_on_domain(search: Search, matches: Matches, values: dict[str, Any]) -> int:
    """The number of links on the domain of a search, at most ``COUNT_LIMIT`` + 1."""
    return _hits(_by_domain_alone(search), matches, values)


def _by_domain_alone(search: Search) -> Search:
    return Search("", (), None, None, domain=search.domain, is_archived=search.is_archived)


def _hits(search: Search, matches: Matches, values: dict[str, Any]) -> int:
    if search.changes_without_trace:
        # A status also changes with the time, clicks, bans and domains.
        return _hits_by_status(search, matches, values)
    key = (primary.current(), values["owner"], search)
    cached = kept_counts.get(key)
    if cached is not None and cached.has_only_insertions_until(matches.changes, matches.links):
        if cached.changes == matches.changes or cached.hits > COUNT_LIMIT:
            return cached.hits
        added = _added_hits(search, cached, values)
        if added is not None:
            return cached.hits + added
    cached = _count(search, matches, values)
    kept_counts.put(key, cached)
    return cached.hits


def _hits_by_status(search: Search, matches: Matches, values: dict[str, Any]) -> int:
    if Status.ACTIVE in search.statuses and search.banned is not None and not search.has_few_without_status:
        # The hits whatever their status are known or kept, and few links are not active.
        whatever = search.without_status
        is_exact = whatever.is_everything
        hits = matches.listed if is_exact else _hits(whatever, matches, values)
        if is_exact or hits <= COUNT_LIMIT:
            others = _hits_of_other_statuses(search, matches, values)
            if others <= COUNT_LIMIT:
                return hits - others
    return _count(search, matches, values).hits


def _hits_of_other_statuses(search: Search, matches: Matches, values: dict[str, Any]) -> int:
    """More than ``COUNT_LIMIT`` if there are too many to be counted."""
    others = set(Status) - set(search.statuses)
    # Separately, because an index has the disabled ones.
    parts = [tuple(sorted(part)) for part in (others & {Status.DISABLED}, others - {Status.DISABLED}) if part]
    counted = (search._replace(statuses=part) for part in parts)
    return sum(_count(part, matches, values | part.values).hits for part in counted)


def _added_hits(search: Search, cached: _Count, values: dict[str, Any]) -> int | None:
    """The hits among the links inserted since then; None if they are not exactly the newest links."""
    query = _COUNT_NEW.format(match=search.match, limit=searches.REACH)
    newest = {"newest_created_at": cached.newest_created_at, "newest_id": cached.newest_id}
    [(changes, links, number, hits)] = fetch(query, values | newest)
    # Imported links may have older dates. Then there are fewer links after the newest one.
    is_exact = cached.has_only_insertions_until(changes, links) and number == links - cached.links
    return hits if is_exact else None


def _count(search: Search, matches: Matches, values: dict[str, Any]) -> _Count:
    limit = COUNT_LIMIT + 1
    if matches.near > searches.FETCH_LIMIT and not search.has_few_candidates:
        # A scan of the links is faster than the index if every fifth one matches.
        matching = searches.owned(search.match)
    elif search.uses_index_by_period:
        matching = searches.matching_by_period(search, None, limit)
    else:
        matching = searches.matching(search)
    [row] = fetch(_COUNT.format(matching=matching, limit=limit), values)
    return _Count(*row)
