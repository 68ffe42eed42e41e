"""The links that a report covers: all links of a workspace, or a selection, within the limits of the caller's key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from accounts.models import User, Workspace
from analytics.reports.conditions import Condition
from analytics.reports.costs import fetch_bounded
from common.ids import parse_public_id
from links import searches
from links.key_limits import condition_of
from links.models import Link
from links.searches import Filters

# Look up the days of so many links one by one. Of more, read the rows of all links, if these and the links are at most
# MAX_OF_ALL (which takes 0.7 s), and keep those of the links.
FEW_LINKS = 20_000
MAX_OF_ALL = 2_000_000
# A report of more links adds up enough to slow others down.
CHEAP_LINKS = 1_000

_ALL = "SELECT link_id FROM links_clickcounter WHERE owner_id = %(owner)s"
_SOME = "SELECT l.id AS link_id FROM links_link l WHERE l.owner_id = %(owner)s"
_TAGGED = "SELECT link_id FROM links_searchable WHERE owner_id = %(owner)s AND tag_keys && %(tags)s::text[]"
# An index finds the links of some tags. Of more, it is faster to hash them than to compare each link with all.
SOME_TAGS = 50
_TAGGED_WITH_MANY = """
SELECT link_id FROM links_searchable
WHERE owner_id = %(owner)s AND EXISTS (SELECT FROM unnest(tag_keys) tag WHERE tag = ANY(%(tags)s::text[]))
"""
# Of links with certain utm parameters, the days on which they had them.
_WITH_UTM = """
SELECT l.id AS link_id, coalesce(f.until, '-infinity') AS first_day, 'infinity'::date AS end_day
FROM links_link l LEFT JOIN (
    SELECT link_id, max(until) AS until FROM links_formerutm WHERE owner_id = %(owner)s GROUP BY 1
) f ON f.link_id = l.id
WHERE l.owner_id = %(owner)s
"""
_WITH_FORMER_UTM = """
SELECT f.link_id, f.first_day, f.until FROM (
    SELECT link_id, utm, lag(until, 1, '-infinity') OVER (PARTITION BY link_id ORDER BY until) AS first_day, until
    FROM links_formerutm WHERE owner_id = %(owner)s
) f JOIN links_link l ON l.id = f.link_id
WHERE l.owner_id = %(owner)s
"""
# What a link had on the `day` of `of`, if that is not what it has now.
FORMER_UTM = """
SELECT f.utm FROM links_formerutm f WHERE f.link_id = {of}.link_id AND f.until > {of}.day ORDER BY f.until LIMIT 1
"""
DAY_OF_MINUTE = "(date '1970-01-01' + {minute} / 1440)"
_CREATOR = " AND coalesce(l.creator_id, %(account)s::bigint) = %(creator)s::bigint"
# An index has only these links.
_HAS_UTM = " AND l.utm <> '{}'::jsonb"
_HAS_FORMER_UTM = "EXISTS (SELECT FROM links_formerutm WHERE owner_id = %(owner)s)"
# Their number, and the links themselves if they are few: to find them again can take as long as the report.
_FOUND = f"""
SELECT count(*), {{rolled}}, {_HAS_FORMER_UTM}, {{listed}} FROM (SELECT * FROM ({{links}}) c LIMIT %(most)s) c
"""  # noqa: S608 # built from constants
# Those of a workspace are counted.
_COUNTED = f"""
SELECT least(coalesce(sum(links), 0), %(most)s)::bigint, {{rolled}}, {_HAS_FORMER_UTM}
FROM links_ownertotals WHERE owner_id = %(owner)s
"""  # noqa: S608 # built from constants
_LIST = (
    "CASE WHEN count(*) < %(most)s THEN coalesce(array_agg({column} ORDER BY {columns}), '{{}}')::text END"
)
_LISTED = "SELECT unnest(%(link_id)s::bigint[]) AS link_id"
_LISTED_DAYS = """
SELECT * FROM unnest(%(link_id)s::bigint[], %(first_day)s::date[], %(end_day)s::date[])
    AS listed (link_id, first_day, end_day)
"""
_DAYS = ("first_day", "end_day")
_ROLLUP = "SELECT %(rollup)s::bigint AS link_id"
_OF_WORKSPACE = "(SELECT id FROM analytics_rollup WHERE owner_id = %(owner)s AND is_complete)"
_OF_DOMAIN = """(
    SELECT r.id FROM analytics_rollup r JOIN domains_domain d ON d.id = r.domain_id
    WHERE d.public_id = %(rolled_domain)s AND d.owner_id = %(owner)s AND r.is_complete
)"""
# Whether a roll-up has the link of `links_searchable s`.
_IS_OF_WORKSPACE = "s.owner_id = %(owner)s"
_IS_OF_DOMAIN = """
s.owner_id = %(owner)s AND s.domain_id = (SELECT domain_id FROM analytics_rollup WHERE id = -%(rollup)s::bigint)
"""
# The rows of a roll-up with the changes that wait.
_OF_ROLLUP = {
    "analytics_daytotal": "analytics_rolledday",
    "analytics_quartertotal": "analytics_rolledquarter",
    "analytics_busydaycount": "analytics_rolledoutcome",
}


@dataclass(frozen=True, slots=True)
class Selection:
    """The links with all of these properties. None, or no values: any. ``utm``: conditions by parameter."""

    ids: list[UUID] | None = None
    filters: Filters = searches.NO_FILTERS
    creator: UUID | None = None
    utm: dict[str, Condition] = field(default_factory=dict)


class Scope(NamedTuple):
    """``links`` is a query for the column ``link_id`` with these values of parameters.

    ``number``: how many links these are, at most FEW_LINKS + 1. ``owner``: their workspace. ``rollup``: the number of
    the roll-up of the same links, if there is one. ``is_rolled``: it is read instead of the links, as if it were one.
    ``member``: whether it has the link of `links_searchable s`, in SQL. ``is_public``: anybody reads the report.
    ``reads_others``: to read the rows of all links and leave out those of others is faster than to look each link up.
    ``has_days``: ``links`` has the columns ``first_day`` and ``end_day``, the day after the last one. A link can have
    several rows, whose days do not overlap: ``number`` counts these. ``has_former_utm``: some links had other utm
    parameters.
    """

    links: str
    values: dict[str, Any]
    number: int
    owner: int
    rollup: int | None = None
    member: str = ""
    is_rolled: bool = False
    is_public: bool = False
    reads_others: bool = False
    has_days: bool = False
    has_former_utm: bool = False

    def rolled(self) -> Scope:
        """The roll-up instead of the links, if there is one."""
        if self.rollup is None:
            return self
        values = self.values | {"rollup": -self.rollup}
        return self._replace(links=_ROLLUP, values=values, number=1, is_rolled=True)

    def contains(self, link: str) -> str:
        """Whether the link is one of the links, in SQL. Not for links with days."""
        if self.links == _LISTED:
            return f"{link} = ANY(%(link_id)s::bigint[])"
        return f"EXISTS (SELECT FROM ({self.links}) chosen WHERE chosen.link_id = {link} OFFSET 0)"

    def on_days(self, day: str) -> str:
        """The end of a condition on rows of this day and on the CTE ``chosen``, in SQL."""
        return f" AND {day} >= chosen.first_day AND {day} < chosen.end_day" if self.has_days else ""

    def on_days_of_clicks(self, clicks: str) -> str:
        return self.on_days(DAY_OF_MINUTE.format(minute=f"{clicks}.minute"))

    def of_clicks(self, clicks: str) -> str:
        """Whether raw clicks of this name are of the links in the CTE ``chosen``, in SQL."""
        if not self.has_days:
            return self.of_chosen
        of_link = f"chosen.link_id = {clicks}.link_id{self.on_days_of_clicks(clicks)}"
        return f"({self.of_chosen} AND EXISTS (SELECT FROM chosen WHERE {of_link}))"

    def has_link_of(self, rows: str) -> str:
        """Whether the roll-up has the link of a row of this CTE, in SQL. An index tells that of all rows at once."""
        links = f"s.link_id = ANY(ARRAY(SELECT link_id FROM {rows})) AND {self.member}"  # noqa: S608 # constants
        # The planner expects few links, but hashes the result of a subquery whose value is compared.
        return f"(link_id IN (SELECT s.link_id FROM links_searchable s WHERE {links})) IS TRUE"  # noqa: S608 # constants

    @property
    def are_few(self) -> bool:
        return self.number <= FEW_LINKS

    @property
    def is_costly(self) -> bool:
        return self.number > CHEAP_LINKS

    @property
    def chosen(self) -> str:
        """The CTE with the links. Those of a large workspace are read again instead of stored: that is faster."""
        return f"chosen AS {'NOT ' if self.links == _ALL and not self.are_few else ''}MATERIALIZED ({self.links})"

    @property
    def of_chosen(self) -> str:
        """Whether a ``link_id`` is in the CTE, in SQL."""
        in_chosen = "link_id IN (SELECT link_id FROM chosen)"
        # Of a selection, the planner expects few links, and looks each of 300,000 up. It hashes what is compared.
        return f"({in_chosen}) IS TRUE" if self.reads_others else in_chosen

    def table(self, name: str) -> str:
        return _OF_ROLLUP[name] if self.is_rolled else name

    def rows(self, table: str, columns: str, condition: str) -> str:
        """A query for the rows of the links in a table ``t``. The statement has the links in the CTE ``chosen``.

        A roll-up's number is enough for its rows.
        """
        table = self.table(table)
        names = f"t.link_id{''.join(f', t.{name}' for name in columns.split())}"
        if self.is_rolled:
            return f"SELECT {names} FROM {table} t WHERE t.link_id = %(rollup)s AND {condition}"  # noqa: S608 # constants
        on_days = self.on_days_of_clicks("t") if table == "analytics_rawclick" else self.on_days("t.day")
        if not self.are_few:
            of_links = f"{table} t WHERE {self.of_chosen} AND {condition}"
            if not self.has_days:
                return f"SELECT {names} FROM {of_links}"  # noqa: S608 # constants
            of_links = f"(SELECT * FROM {of_links} OFFSET 0) t"  # noqa: S608 # constants
            return f"SELECT {names} FROM {of_links} JOIN chosen ON chosen.link_id = t.link_id{on_days}"  # noqa: S608 # as above
        # OFFSET 0 makes the planner look up the rows of each link, instead of reading those of all workspaces.
        return f"""
        SELECT {names} FROM chosen CROSS JOIN LATERAL (
            SELECT * FROM {table} t WHERE t.link_id = chosen.link_id{on_days} AND {condition} OFFSET 0
        ) t
        """  # noqa: S608 # built from constants


def of_link(link: Link) -> Scope:
    return Scope("SELECT %(link)s::bigint AS link_id", {"link": link.pk}, 1, link.owner_id)


def of_tags(owner: Workspace, keys: Sequence[str]) -> Scope:
    """The links that have any of these tags. One query."""
    values: dict[str, Any] = {"owner": owner.pk, "tags": list(keys)}
    return _found(_TAGGED if len(keys) <= SOME_TAGS else _TAGGED_WITH_MANY, values, owner.pk)


def of_workspace(owner: Workspace, selection: Selection) -> Scope:
    """One query. Raises NotFound for a domain that the caller does not have."""
    limits, values = condition_of(owner.key)
    conditions = limits
    # A link of a personal workspace without a creator is of the workspace's account.
    values |= {"owner": owner.pk, "account": owner.pk if owner.is_personal else None}
    if selection.ids is not None:
        conditions += " AND l.public_id = ANY(%(ids)s::uuid[])"
        values["ids"] = selection.ids
    search = searches.search_for(owner, selection.filters)
    matching = "" if search is None else searches.matching(search)
    if search is not None:
        values |= search.values
    if selection.creator is not None:
        creator = User.objects.filter(public_id=selection.creator).values_list("pk", flat=True).first()
        conditions += _CREATOR
        values["creator"] = creator
    if selection.utm:
        among = f" AND l.id IN ({matching})" if matching else ""
        links, of_utm = _with_utm(selection.utm, conditions + among)
        return _found(links, values | of_utm, owner.pk, has_days=True)
    if conditions:
        links = f"{_SOME}{conditions} AND l.id IN ({matching})" if matching else _SOME + conditions
    else:
        links = f"SELECT id AS link_id FROM ({matching}) m" if matching else _ALL  # noqa: S608 # constants
    rolled, member = "NULL", ""
    if links == _ALL:
        rolled, member = _OF_WORKSPACE, _IS_OF_WORKSPACE
    elif not limits and selection == Selection(filters=Filters(domain_id=selection.filters.domain_id)):
        # The search has found the domain among those of the workspace.
        rolled, member = _OF_DOMAIN, _IS_OF_DOMAIN
        values["rolled_domain"] = parse_public_id(selection.filters.domain_id or "")
    return _found(links, values, owner.pk, rolled)._replace(member=member)


def of_link_with(link: Link, utm: Mapping[str, Condition]) -> Scope:
    """The link on the days on which it had these utm parameters. One query."""
    links, of_utm = _with_utm(utm, " AND l.id = %(link)s")
    return _found(links, {"owner": link.owner_id, "link": link.pk} | of_utm, link.owner_id, has_days=True)


def _with_utm(utm: Mapping[str, Condition], conditions: str) -> tuple[str, dict[str, Any]]:
    """A query for the links and days with these utm parameters, and its parameters."""
    has_utm = "" if all(condition.holds(UNSET) for condition in utm.values()) else _HAS_UTM
    links = []
    for known, of, more in ((_WITH_UTM, "l.utm", has_utm), (_WITH_FORMER_UTM, "f.utm", "")):
        met = [condition.sql(f"utm_{key}", utm_value(key, of)) for key, condition in utm.items()]
        links.append(f"{known}{conditions} AND {' AND '.join(met)}{more}")
    parameters = [condition.values(f"utm_{key}") for key, condition in utm.items()]
    return " UNION ALL ".join(links), {name: value for part in parameters for name, value in part.items()}


def _found(
    links: str, values: dict[str, Any], owner: int, rolled: str = "NULL", *, has_days: bool = False
) -> Scope:
    columns = ["link_id", *(_DAYS if has_days else ())]
    listed = ", ".join(_LIST.format(column=column, columns=", ".join(columns)) for column in columns)
    text = (
        _COUNTED.format(rolled=rolled)
        if links == _ALL
        else _FOUND.format(links=links, rolled=rolled, listed=listed)
    )
    [(number, rollup, has_former_utm, *lists)] = fetch_bounded(text, {**values, "most": FEW_LINKS + 1})
    if lists and lists[0] is not None:
        links = _LISTED_DAYS if has_days else _LISTED
        values = values | dict(zip(columns, lists, strict=True))
    scope = Scope(links, values, number, owner, rollup)
    return scope._replace(has_days=has_days, has_former_utm=has_former_utm)


def utm_value(key: str, utm: str = "l.utm") -> str:
    """SQL: the value of this column for a utm parameter; UNSET without one."""
    return f"coalesce({utm}->>'{key}', '{UNSET}')"


# What a report calls the value of what has none: of a link without a tag or a utm parameter, and of clicks on a link's
# own destination. It can be a tag, too.
NONE = "none"
# The value of a link without one in conditions and groups. No link has an empty one.
UNSET = ""
