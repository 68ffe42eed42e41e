"""Counts the links of a list, by tag, domain or status.

Without a filter, roll-ups and indexes have the counts of a million links. Otherwise each link that matches is read, so
that at most ``COUNT_LIMIT`` are counted in groups.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db import models

from accounts.models import Workspace
from common.database import fetch
from common.errors import FieldError, InvalidFields
from common.http.short_urls import BASE_ID
from links import list_counts, searches
from links.availability import Status
from links.banned_links import banned_links
from links.key_limits import condition_of
from links.list_counts import COUNT_LIMIT
from links.searches import Filters, Search
from links.selectors import count_links, number_of


class GroupBy(models.TextChoices):
    TAG = "tag"
    DOMAIN = "domain"
    STATUS = "status"


class LinkGroup(NamedTuple):
    """``value``: as a filter of the list takes it."""

    value: str
    links: int


class Counted(NamedTuple):
    """``groups``: the largest ones, of ``all_groups``. None: no groups were asked for."""

    total: int
    is_capped: bool
    groups: list[LinkGroup] | None = None
    all_groups: int | None = None


TOO_MANY = FieldError(
    "groupBy",
    "too_many",
    f"More than {COUNT_LIMIT:,} links would have to be read; narrow them with filters, or leave the filters out.",
)
# The value of a row of ``chosen s`` besides its status, and what it needs besides the row.
_VALUES = {
    GroupBy.TAG: ("tag", "CROSS JOIN LATERAL unnest(s.tag_keys) tag"),
    GroupBy.DOMAIN: (
        f"coalesce(d.public_id::text, '{BASE_ID}')",
        "LEFT JOIN domains_domain d ON d.id = s.domain_id",
    ),
}
_GROUPED = """
WITH chosen AS MATERIALIZED ({chosen} LIMIT {most})
SELECT (SELECT count(*) FROM chosen), value, links FROM (VALUES (1)) one LEFT JOIN (
    SELECT {value} AS value, count(*) AS links FROM chosen s {join} GROUP BY 1
) grouped ON true
"""
_BY_TAG = """
SELECT tag_key, sum({number})::bigint FROM links_tagtotals WHERE owner_id = %(owner)s
GROUP BY tag_key HAVING sum({number}) > 0
"""
# In an index. Links of the default domain are the rest.
_BY_DOMAIN = """
SELECT d.public_id::text, counted.links FROM (
    SELECT s.domain_id, count(*) AS links FROM links_searchable s
    WHERE s.owner_id = %(owner)s AND s.domain_id > 0 AND {match} GROUP BY 1
) counted JOIN domains_domain d ON d.id = counted.domain_id
"""


def count(owner: Workspace, filters: Filters, group_by: GroupBy | None = None, *, limit: int) -> Counted:
    """The links that match the filters. Raises NotFound for a domain, and InvalidFields if too many would be read."""
    search = searches.search_for(owner, filters)
    condition, values = condition_of(owner.key)
    values |= {"owner": owner.pk} | ({} if search is None else search.values)
    if group_by is None:
        return _ungrouped(owner, search, filters, values)
    listed = searches.in_list(filters.is_active, filters.is_archived)
    banned = () if search is None else search.banned
    if group_by is GroupBy.STATUS and not filters.statuses:
        banned = banned_links(owner.pk, searches.in_list(None, filters.is_archived))
        values["banned"] = list(banned or ())
    if search is None and not condition and filters.is_active is None and banned is not None:
        total = count_links(owner, is_active=None, is_archived=filters.is_archived)
        groups = _of_all(group_by, total, listed, filters, values)
    else:
        links = f"WHERE s.owner_id = %(owner)s AND {listed if search is None else _match(search)}"
        if condition:
            links = f"JOIN links_link l ON l.id = s.link_id{condition} {links}"
        total, groups = _grouped(group_by, links, values, banned)
    groups.sort(key=lambda group: (-group.links, group.value))
    return Counted(total, False, groups[:limit], len(groups))


def _match(search: Search) -> str:
    return f"s.link_id IN ({searches.matching(search)})"


def _ungrouped(owner: Workspace, search: Search | None, filters: Filters, values: dict[str, Any]) -> Counted:
    if owner.key is not None and owner.key.only_own:
        condition, _ = condition_of(owner.key)
        match = searches.in_list(filters.is_active, filters.is_archived) if search is None else search.match
        links = f"links_searchable s JOIN links_link l ON l.id = s.link_id{condition}"
        query = f"SELECT count(*) FROM (SELECT FROM {links} WHERE s.owner_id = %(owner)s AND {match} LIMIT {COUNT_LIMIT + 1}) c"  # noqa: S608, E501 # constants
        [[found]] = fetch(query, values)
        return Counted(min(found, COUNT_LIMIT), found > COUNT_LIMIT)
    if search is None:
        total = count_links(owner, is_active=filters.is_active, is_archived=filters.is_archived)
        return Counted(total, is_capped=False)
    if search.column:
        found = list_counts.total_by_column(search, values)
    else:
        found = list_counts.total(search, searches.find(search, values, "DESC"), values)
    return Counted(found.links, found.is_capped)


def _of_all(
    group_by: GroupBy, total: int, listed: str, filters: Filters, values: dict[str, Any]
) -> list[LinkGroup]:
    """The groups of all links that are archived or not."""
    if group_by is GroupBy.TAG:
        query = _BY_TAG.format(number=number_of(None, filters.is_archived))
        return [LinkGroup(*row) for row in fetch(query, values)]
    if group_by is GroupBy.DOMAIN:
        groups = [LinkGroup(*row) for row in fetch(_BY_DOMAIN.format(match=listed), values)]
        rest = LinkGroup(BASE_ID, total - sum(group.links for group in groups))
    else:
        archived = searches.in_list(None, filters.is_archived, "l")
        read, groups = _counted(
            searches.STATUSES.format(listed=archived), "value", "", {**values, "few": COUNT_LIMIT}
        )
        found = sum(group.links for group in groups if group.value == Status.ACTIVE)
        groups = [group for group in groups if group.value != Status.ACTIVE]
        rest = LinkGroup(Status.ACTIVE, total - read + found)
    return [*groups, *([rest] if rest.links > 0 else [])]


def _grouped(
    group_by: GroupBy, links: str, values: dict[str, Any], banned: tuple[int, ...] | None
) -> tuple[int, list[LinkGroup]]:
    value, join = _VALUES.get(group_by) or (searches.status_of_row(banned), "")
    return _counted(f"SELECT s.* FROM links_searchable s {links}", value, join, values)  # noqa: S608 # constants


def _counted(chosen: str, value: str, join: str, values: dict[str, Any]) -> tuple[int, list[LinkGroup]]:
    """The number of rows of the query ``chosen s``, and of those with each value. Raises InvalidFields."""
    query = _GROUPED.format(chosen=chosen, most=COUNT_LIMIT + 1, value=value, join=join)
    rows = fetch(query, values)
    total = rows[0][0]
    if total > COUNT_LIMIT:
        raise InvalidFields([TOO_MANY])
    return total, [LinkGroup(value, number) for _, value, number in rows if value is not None]
