"""Searches of an owner's links by text, tags, activity, time of creation, domain and further columns.

A text that is the short URL of a link also finds that link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit
from uuid import UUID

from accounts.models import User, Workspace
from common.database import fetch
from common.http.short_urls import BASE_ID
from common.http.urls import Destination, InvalidDestination, canonical_destination
from common.pages import Window
from domains.addresses import is_own_address
from domains.selectors import find_domain
from links.availability import STATUS_WITHOUT_BAN, Status, status_in_sql
from links.banned_links import BANNED, banned_links, is_banned
from links.errors import domain_not_found, url_not_found
from links.existing import LEADS_TO
from links.fields import UNIQUE
from links.models import Link
from links.search_index import SEARCH_KEYS, selective_part
from links.selectors import get_link, number_of, tag_key
from links.tags.texts import tags_in


class Period(NamedTuple):
    """The times from ``start`` on and before ``end``. None: without a limit."""

    start: datetime | None = None
    end: datetime | None = None

    @property
    def condition(self) -> str:
        """The end of a condition on `links_searchable s`."""
        start = "" if self.start is None else " AND s.created_at >= %(created_from)s"
        return start if self.end is None else f"{start} AND s.created_at < %(created_before)s"


ALWAYS = Period()
_MICROSECOND = timedelta(microseconds=1)
_LAST_MOMENT = datetime.max.replace(tzinfo=UTC) - _MICROSECOND
# Whether links need any or all of the tags.
ANY, ALL = "any", "all"


class Filters(NamedTuple):
    """The filters of a list or an export. ``unique`` has the columns of unique fields with their values."""

    search: str = ""
    tags: str = ""
    is_active: bool | None = None
    is_archived: bool | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None
    domain_id: str | None = None
    unique: tuple[tuple[str, str], ...] = ()
    statuses: tuple[Status, ...] = ()
    expires_within: int | None = None
    tags_mode: str = ANY
    exclude_tags: str = ""
    health: str | None = None
    created_after: datetime | None = None
    creator: UUID | None = None
    has_password: bool | None = None
    destination: Destination | None = None

    @property
    def created(self) -> Period:
        starts = [] if self.created_from is None else [self.created_from]
        if self.created_after is not None:
            starts.append(min(self.created_after, _LAST_MOMENT) + _MICROSECOND)
        return Period(max(starts, default=None), self.created_before)


NO_FILTERS = Filters()
_UNIQUE = frozenset(field.column for field in UNIQUE)


def filters_of(parameters: Mapping[str, Any]) -> Filters:
    """The filters of a request, as `links.serializers.ListFilters` validates them."""
    others = {name: value for name, value in parameters.items() if name not in _UNIQUE}
    unique = ((name, value) for name, value in parameters.items() if name in _UNIQUE)
    return Filters(**others, unique=tuple(unique))


class ListOptions(NamedTuple):
    window: Window
    sort_by: str
    sort_order: str
    filters: Filters


def list_options(window: Window, *, sort_by: str, sort_order: str, **filters: Any) -> ListOptions:
    """The options of a request, as `links.serializers.ListQuery` validates them.

    Archived links are hidden, unless the request says otherwise or has a unique value.
    """
    return ListOptions(window, sort_by, sort_order, filters_of_list(filters))


def filters_of_list(parameters: Mapping[str, Any]) -> Filters:
    """`filters_of`, with the default of lists for archived links."""
    is_archived = None if _UNIQUE & parameters.keys() else False
    return filters_of({"is_archived": is_archived, **parameters})


# The search index does not know domains. Reading all links of a domain with at most this many is faster.
SMALL_DOMAIN = 20_000
DEFAULT_DOMAIN = 0
_IS_LARGE = """
SELECT EXISTS (
    SELECT FROM links_searchable WHERE owner_id = %(owner)s AND domain_id = %(domain)s OFFSET %(small)s
)
"""


class ListedDomain(NamedTuple):
    """``pk`` is the primary key of a domain, or ``DEFAULT``. ``is_small``: it has at most ``SMALL`` links."""

    pk: int
    is_small: bool


def listed_domain(owner: Workspace, domain_id: str | None) -> ListedDomain | None:
    """None without a filter. The default is the domain of the key, unless `list_limited_links` applies it.

    Raises NotFound for an unknown id, another owner's domain, and a domain outside the limits of the key.
    """
    of_key = None if owner.key is None else owner.key.domain_id
    if domain_id is None:
        if of_key is None or (owner.key is not None and owner.key.only_own):
            return None
        pk = of_key
    elif domain_id == BASE_ID:
        if of_key is not None:
            raise domain_not_found()
        pk = DEFAULT_DOMAIN
    else:
        domain = find_domain(owner, domain_id)
        if domain is None:
            raise domain_not_found()
        pk = domain.pk
    [[is_large]] = fetch(_IS_LARGE, {"owner": owner.pk, "domain": pk, "small": SMALL_DOMAIN})
    return ListedDomain(pk, not is_large)


# Of at most so many links, a list reads all; of more, it looks at each link on its way through the list. As many as a
# list counts, because counting reads them anyway: 99,000 of 300,000 links took 0.2 s by their index, else 1 s.
FEW_LINKS = 100_000
_MORE_THAN_FEW = (
    "SELECT EXISTS (SELECT FROM links_link WHERE owner_id = %(owner)s AND {condition} OFFSET {few})"
)


class Condition(NamedTuple):
    """A condition on columns that `links_searchable s` lacks, with the values of its parameters.

    ``column``: the same condition on a row of `links_link`, if an index has the links that meet it by date. ``rest``:
    the opposite one, if an index has the others. ``are_few``: an index has these links, and they are few.
    """

    sql: str
    values: tuple[tuple[str, Any], ...] = ()
    column: str = ""
    rest: str = ""
    are_few: bool = False


def leads_to(destination: Destination) -> Condition:
    """Links that lead to this URL."""
    links = f"SELECT l.id FROM links_link l WHERE {LEADS_TO}"  # noqa: S608 # constants
    return Condition(f"s.link_id IN ({links})", (("destination", destination.href),), are_few=True)


def created_by(owner: Workspace, creator: UUID) -> Condition | None:
    """Links that an account created. None: all links."""
    # None is no id.
    account = User.objects.filter(public_id=creator).values_list("pk", flat=True).first() or 0
    values: tuple[tuple[str, Any], ...] = (("creator", account),)
    if owner.is_personal and account == owner.pk:
        # A link of a personal workspace without a creator is of the workspace's account.
        return _without(owner, "creator_id <> %(creator)s::bigint", values)
    return _indexed(owner, "creator_id = %(creator)s::bigint", values)


def with_password(owner: Workspace, *, has_password: bool) -> Condition | None:
    """Links with a password, or without one. None: all links."""
    condition = "password IS NOT NULL"
    return _indexed(owner, condition) if has_password else _without(owner, condition)


_SOME = "SELECT EXISTS (SELECT FROM links_link WHERE owner_id = %(owner)s AND {condition})"
# A join, because NOT IN reads all of them for each link if the planner expects too many.
_IS_NONE_OF = """NOT EXISTS (
    SELECT FROM links_link l WHERE l.id = s.link_id AND l.owner_id = %(owner)s AND l.{condition}
)"""


def _without(owner: Workspace, rest: str, values: tuple[tuple[str, Any], ...] = ()) -> Condition | None:
    """Links that do not meet ``rest``, for which there is an index. None: all links."""
    [[are_some]] = fetch(_SOME.format(condition=rest), {**dict(values), "owner": owner.pk})
    return Condition(_IS_NONE_OF.format(condition=rest), values, rest=rest) if are_some else None


def _indexed(owner: Workspace, condition: str, values: tuple[tuple[str, Any], ...] = ()) -> Condition:
    query = _MORE_THAN_FEW.format(condition=condition, few=FEW_LINKS)
    [[are_many]] = fetch(query, {**dict(values), "owner": owner.pk})
    if are_many:
        return Condition(_of_link(f"l.{condition}"), values, condition)
    links = f"SELECT id FROM links_link WHERE owner_id = %(owner)s AND {condition}"  # noqa: S608 # constants
    return Condition(f"s.link_id IN ({links})", values, condition, are_few=True)


def _of_link(condition: str) -> str:
    return f"(SELECT {condition} FROM links_link l WHERE l.id = s.link_id)"  # noqa: S608 # constants


# A reserved code does not redirect to its link: the link is on a customer's domain.
_ON_DEFAULT_DOMAIN = """
SELECT l.id FROM links_code c JOIN links_link l ON l.id = c.link_id
WHERE c.domain_id IS NULL AND c.code = %(code)s AND c.kind <> 'reserved' AND l.owner_id = %(owner)s
"""
_ON_CUSTOM_DOMAIN = """
SELECT l.id FROM domains_domain d JOIN links_code c ON c.domain_id = d.id JOIN links_link l ON l.id = c.link_id
WHERE d.owner_id = %(owner)s AND d.host = %(host)s AND c.code = %(code)s AND l.owner_id = %(owner)s
"""


def link_at(owner: Workspace, text: str) -> int | None:
    """The primary key of the owner's link at this short URL, which may have a former code of the link.

    The scheme, a final slash, a query and a fragment make no difference.
    """
    address = _parsed_address(text)
    if address is None:
        return None
    # Codes are stored decoded.
    code = unquote(urlsplit(address.href).path).removeprefix("/").removesuffix("/")
    if not code or "/" in code or "\0" in code:
        return None
    query = _ON_DEFAULT_DOMAIN if is_own_address(address) else _ON_CUSTOM_DOMAIN
    values = {"owner": owner.pk, "host": address.host.removesuffix("."), "code": code}
    return next((link_id for (link_id,) in fetch(query, values)), None)


def link_at_short_url(owner: Workspace, short_url: str) -> Link:
    """The link of `link_at`. Raises NotFound, also for one of somebody else and one outside the limits of the key."""
    key = link_at(owner, short_url)
    if key is None:
        raise url_not_found()
    # None is no id: the link has been deleted meanwhile.
    return get_link(owner, str(Link.objects.filter(pk=key).values_list("public_id", flat=True).first()))


def _parsed_address(text: str) -> Destination | None:
    if "/" not in text:
        return None
    text = text.strip()
    try:
        return canonical_destination(text if re.match("(?i)https?://", text) else f"https://{text}")
    except InvalidDestination:
        return None


def link_with(owner: Workspace, values: Mapping[str, str]) -> int:
    """The primary key of the owner's link with these values of unique fields; 0 if there is none."""
    return Link.objects.filter(owner=owner, **values).values_list("pk", flat=True).first() or 0


# The first query fetches the ids of this many matches. Most searches have fewer, and need no further counting.
FETCH_LIMIT = 1_000
# Scan this many links before querying the index, because the index is slow for common terms.
REACH = 5_000


class Search(NamedTuple):
    """An owner's filters. ``addressed`` is the primary key of the link whose short URL is ``text``.

    ``identified`` is that of the only link with the values of unique fields; 0 if there is none. ``statuses``: any of
    them, if there are any. ``expires_within``: the number of days within which links expire. ``has_all_tags``: a link
    needs all of the ``tags`` rather than any; ``excluded`` are tags that it must not have. ``are_dead``: only those
    whose destination is dead. ``conditions``: on further columns. ``banned``: of `banned_links`, for statuses.
    """

    text: str
    tags: tuple[str, ...]
    is_active: bool | None
    addressed: int | None
    created: Period = ALWAYS
    domain: ListedDomain | None = None
    identified: int | None = None
    statuses: tuple[Status, ...] = ()
    expires_within: int | None = None
    is_archived: bool | None = None
    has_all_tags: bool = False
    excluded: tuple[str, ...] = ()
    are_dead: bool = False
    conditions: tuple[Condition, ...] = ()
    banned: tuple[int, ...] | None = ()

    @property
    def column(self) -> str:
        """The condition on a row of `links_link` of which indexes have the matches by date; empty without one."""
        columns = [condition.column for condition in self.conditions]
        return " AND ".join(columns) if all(columns) and self._replace(conditions=()).is_everything else ""

    @property
    def rest(self) -> str:
        """The condition on a row of `links_link` that all others meet, if an index has those; else empty."""
        is_alone = len(self.conditions) == 1 and self._replace(conditions=()).is_everything
        return self.conditions[0].rest if is_alone else ""

    @property
    def is_everything(self) -> bool:
        """Whether all links match that are archived or not."""
        return self._replace(is_archived=None, banned=()) == Search("", (), None, None)

    @property
    def match(self) -> str:
        """The condition that rows of `links_searchable s` must meet."""
        if self.addressed is None:
            return self.index_match
        return f"({self.index_match} OR {_ADDRESSED} AND {self._filters})"

    @property
    def index_match(self) -> str:
        """The condition that an index decides, without ``addressed``."""
        return f"{_TEXT} AND {self._filters}" if self.text else self._filters

    @property
    def uses_index(self) -> bool:
        # Almost every link contains any given letter or digit, so the index would not narrow the search.
        is_by_text = bool(self.text and not re.fullmatch("[A-Za-z0-9]", self.text))
        is_selective = bool(self.tags or self.excluded) or is_by_text
        return is_selective and not (self.is_by_small_domain or self.has_few_candidates)

    @property
    def is_by_small_domain(self) -> bool:
        return self.domain is not None and self.domain.is_small

    @property
    def has_few_candidates(self) -> bool:
        """Whether the link is known, or a condition on the columns of links excludes those that anybody can follow."""
        by_status = bool(self.statuses) and Status.ACTIVE not in self.statuses
        if self.banned is None and Status.BANNED in self.statuses:
            by_status = False
        return (
            (by_status and not self.are_disabled)
            or self.identified is not None
            or self.expires_within is not None
            or self.are_dead
            or self.has_indexed_conditions
        )

    @property
    def has_few_without_status(self) -> bool:
        return self.without_status.has_few_candidates

    @property
    def without_status(self) -> Search:
        return self._replace(statuses=(), banned=())

    @property
    def has_indexed_conditions(self) -> bool:
        return any(condition.are_few for condition in self.conditions)

    @property
    def are_disabled(self) -> bool:
        """Whether all matches are inactive links without a ban: an index by date has those, and few others."""
        return self.statuses == (Status.DISABLED,) and self.is_active is not True

    @property
    def is_by_date_alone(self) -> bool:
        """Whether an index by date has exactly the matches, but for inactive and archived links."""
        has_texts = self.text or self.tags or self.excluded
        return not (has_texts or self.changes_without_trace) and self.identified is None

    @property
    def changes_without_trace(self) -> bool:
        """Whether links can begin or cease to match although no row of `links_searchable` changes."""
        of_links = self.expires_within is not None or self.are_dead or self.conditions
        return bool(self.statuses or of_links)

    @property
    def uses_index_by_period(self) -> bool:
        # A text shorter than an index key is the prefix of many keys, all of which would be read for each period.
        # The link at a short URL may be of any period.
        return self.uses_index and len(self.text) not in (1, 2) and self.addressed is None

    @property
    def values(self) -> dict[str, Any]:
        return {
            "search": self.text,
            "term": selective_part(self.text),
            "tags": list(self.tags),
            "excluded": list(self.excluded),
            "alternatives": [] if self.has_all_tags else list(self.tags),
            "marks": self._marks,
            "addressed": self.addressed,
            "identified": self.identified,
            "statuses": list(self.statuses),
            "banned": list(self.banned or ()),
            "few": FEW_LINKS,
            "created_from": self.created.start,
            "created_before": self.created.end,
            "expires_within": self.expires_within,
            "domain": None if self.domain is None else self.domain.pk,
            **dict(value for condition in self.conditions for value in condition.values),
        }

    @property
    def is_on_default_domain(self) -> bool:
        return self.domain is not None and self.domain.pk == DEFAULT_DOMAIN

    @property
    def on_domain(self) -> str:
        """The end of a condition on `links_searchable s`."""
        return "" if self.domain is None else " AND s.domain_id = %(domain)s"

    @property
    def _marks(self) -> list[str]:
        return [
            *(["#inactive"] if self.is_active is False or self.are_disabled else ()),
            *(["#archived"] if self.is_archived else ()),
            *(self.tags if self.has_all_tags else ()),
        ]

    @property
    def _filters(self) -> str:
        tags = f" AND {_ALL_TAGS if self.has_all_tags else _TAGS}" if self.tags else ""
        if self.excluded:
            tags += f" AND NOT {_EXCLUDED}"
        identified = "" if self.identified is None else " AND s.link_id = %(identified)s"
        is_row_banned = is_banned(self.banned)
        status = f" AND {_HAS_STATUS.format(is_banned=is_row_banned)}" if self.statuses else ""
        if self.are_disabled:
            # Without a column that the index of inactive links lacks.
            status = f" AND NOT {is_row_banned}"
        expires = "" if self.expires_within is None else f" AND s.link_id IN {_EXPIRING}"
        dead = f" AND s.link_id IN {_DEAD}" if self.are_dead else ""
        others = "".join(f" AND {condition.sql}" for condition in self.conditions)
        conditions = (
            f"{tags}{self.created.condition}{self.on_domain}{identified}{status}{expires}{dead}{others}"
        )
        return f"{in_list(False if self.are_disabled else self.is_active, self.is_archived)}{conditions}"


class Matches(NamedTuple):
    """``ids`` has all matches, at most FETCH_LIMIT + 1.

    ``near`` counts the matches among the first ``REACH`` of the owner's ``links``, or of those on the domain.
    ``listed`` of the owner's links are archived or not, like those of the search. ``tag_totals`` has the number of
    links with each of its tags that are active and archived like those. At least ``not_excluded`` of these have none
    of the excluded tags, and exactly so many if one is excluded. ``changes`` is the state of the owner's links; see
    `OwnerTotals`.
    """

    links: int
    listed: int
    changes: int
    near: int
    ids: list[int]
    tag_totals: list[int]
    not_excluded: int
    are_first: bool

    @property
    def is_complete(self) -> bool:
        return len(self.ids) <= FETCH_LIMIT


# Two separate conditions, so that the index can skip rows that either one excludes. A term may produce no hint.
_INDEX_CONDITION = (
    f"{SEARCH_KEYS} @@ quote_literal({{mark}})::tsquery AND {{match}} AND {SEARCH_KEYS} @@ coalesce("
    "links_hint(%(marks)s::text[], %(alternatives)s::text[], lower(%(term)s), %(excluded)s::text[]),"
    " quote_literal({mark})::tsquery)"
)


_IS_CLOSABLE = "(NOT is_active OR starts_at IS NOT NULL OR expires_at IS NOT NULL OR max_clicks IS NOT NULL)"


def _closable(condition: str) -> str:
    """Links that their own columns can close and that meet the condition. The index link_closable has all of it."""
    return f"""(
        SELECT id FROM links_link WHERE owner_id = %(owner)s AND {_IS_CLOSABLE} AND {condition}
    )"""  # noqa: S608 # composed of constants


_EXPIRING = _closable("expires_at > now() AND expires_at <= now() + %(expires_within)s * interval '1 day'")
_DEAD = "(SELECT id FROM links_link WHERE owner_id = %(owner)s AND is_dead)"
_ON_INACTIVE_DOMAINS = """(
    SELECT l.id FROM domains_domain d JOIN links_link l ON l.domain_id = d.id
    WHERE d.owner_id = %(owner)s AND d.status <> 'active'
)"""
# The links that may have a status, besides active.
_CANDIDATES = {
    Status.BANNED: BANNED,
    Status.DISABLED: _closable("NOT is_active"),
    Status.DOMAIN_INACTIVE: _ON_INACTIVE_DOMAINS,
    Status.SCHEDULED: _closable("starts_at > now()"),
    Status.EXPIRED: _closable("expires_at <= now()"),
    Status.LIMIT_REACHED: _closable("max_clicks IS NOT NULL"),
}
_MAY_BE_CLOSED = f"s.link_id IN {_closable('true')} OR s.link_id IN {_ON_INACTIVE_DOMAINS}"
_STATUS = status_in_sql("s.link_id", STATUS_WITHOUT_BAN)
_STATUS_OF_ROW = f"""CASE
    WHEN {{is_banned}} THEN '{Status.BANNED}' WHEN {_MAY_BE_CLOSED} THEN {_STATUS} ELSE '{Status.ACTIVE}'
END"""
# A query for the status of each link that may not be active, if few are banned; some of them are active. Only what a
# domain may close, and counters, are read from tables. If inactive domains have too many, some rows have no status.
_ARE_APART_FEW = "(SELECT count(*) <= %(few)s FROM apart)"
STATUSES = f"""
WITH banned (id) AS MATERIALIZED ({BANNED}),
apart AS MATERIALIZED (SELECT id FROM {_ON_INACTIVE_DOMAINS} a LIMIT %(few)s + 1)
SELECT l.id, links_status(
    false, l.is_active, 'active', l.starts_at, l.expires_at, l.max_clicks,
    CASE WHEN l.is_active AND l.max_clicks IS NOT NULL THEN (
        SELECT clicks FROM links_clickcounter n WHERE n.link_id = l.id
    ) END
) AS value
FROM links_link l
WHERE owner_id = %(owner)s AND {_IS_CLOSABLE} AND {{listed}} AND {_ARE_APART_FEW}
    AND id NOT IN (SELECT id FROM apart) AND id NOT IN (SELECT id FROM banned)
UNION ALL
SELECT l.id, {STATUS_WITHOUT_BAN} FROM links_link l JOIN links_clickcounter n ON n.link_id = l.id
LEFT JOIN domains_domain d ON d.id = l.domain_id
WHERE l.id IN (SELECT id FROM apart) AND l.id NOT IN (SELECT id FROM banned) AND l.owner_id = %(owner)s
    AND {{listed}} AND {_ARE_APART_FEW}
UNION ALL SELECT id, '{Status.BANNED}' FROM banned
UNION ALL SELECT id, NULL FROM apart WHERE NOT {_ARE_APART_FEW}
"""  # noqa: S608 # composed of constants
# Those of them that have none of the statuses.
CLOSED = f"(SELECT id FROM ({STATUSES}) s WHERE value <> ALL (%(statuses)s))"  # noqa: S608 # composed of constants
# To find out the status of a row takes as long as twenty of the other questions, which decide for most links.
_HAS_STATUS = f"""CASE
    WHEN {{is_banned}} THEN '{Status.BANNED}' = ANY(%(statuses)s)
    WHEN NOT s.is_active THEN '{Status.DISABLED}' = ANY(%(statuses)s)
    WHEN {_MAY_BE_CLOSED} THEN {_STATUS} = ANY(%(statuses)s)
    ELSE '{Status.ACTIVE}' = ANY(%(statuses)s)
END"""
_TEXT = "strpos(s.content, lower(%(search)s)) > 0"
_TAGS = "s.tag_keys && %(tags)s::text[]"
_ALL_TAGS = "s.tag_keys @> %(tags)s::text[]"
_EXCLUDED = "s.tag_keys && %(excluded)s::text[]"
_ADDRESSED = "s.link_id = %(addressed)s"
_PERIOD = (
    "(SELECT links_period({end}(s.created_at)) FROM links_searchable s WHERE s.owner_id = %(owner)s{limits})"
)
# Reads periods from the newest or the oldest on, and stops once it has enough links.
_BY_PERIOD = """
SELECT f.id, f.key FROM generate_series({first}, {last}, {step}) period CROSS JOIN LATERAL (
    SELECT s.link_id AS id, s.created_at AS key FROM links_searchable s WHERE s.owner_id = %(owner)s AND {match}
    {order}
) f LIMIT {limit}
"""
_MATCHES = """
SELECT links, listed, changes, cardinality(near.ids), CASE
    WHEN cardinality(near.ids) > {limit} OR links <= {reach} THEN near.ids
    ELSE ARRAY(SELECT id FROM ({candidates}) c LIMIT {limit} + 1)
END, ARRAY(
    SELECT sum({tagged})::bigint FROM links_tagtotals WHERE owner_id = %(owner)s AND tag_key = ANY(%(tags)s::text[])
    GROUP BY tag_key
), population, (
    SELECT coalesce(sum({tagged}), 0)::bigint FROM links_tagtotals
    WHERE owner_id = %(owner)s AND tag_key = ANY(%(excluded)s::text[])
)
FROM (
    SELECT coalesce(sum(links), 0)::bigint AS links, coalesce(sum({listed}), 0)::bigint AS listed,
        coalesce(sum(changes), 0)::bigint AS changes, coalesce(sum({tagged}), 0)::bigint AS population
    FROM links_ownertotals WHERE owner_id = %(owner)s
) totals, (
    SELECT ARRAY(
        SELECT s.link_id FROM (
            SELECT * FROM links_searchable s WHERE s.owner_id = %(owner)s{on_domain}
            ORDER BY created_at {direction}, link_id {direction} LIMIT {reach}
        ) s WHERE {match} LIMIT {limit} + 1
    ) AS ids OFFSET 0
) near
"""


def search_for(owner: Workspace, filters: Filters) -> Search | None:
    """None if there is no text, tag, time, domain, unique value or status to match.

    Raises NotFound as `listed_domain` does.
    """
    domain = listed_domain(owner, filters.domain_id)
    tag_keys, excluded = _keys_of(filters.tags), _keys_of(filters.exclude_tags)
    text, created = filters.search, filters.created
    identified = link_with(owner, dict(filters.unique)) if filters.unique else None
    search = Search(
        text,
        tag_keys,
        filters.is_active,
        link_at(owner, text),
        created,
        domain,
        identified,
        filters.statuses,
        filters.expires_within,
        filters.is_archived,
        filters.tags_mode == ALL and len(tag_keys) > 1,
        excluded,
        filters.health is not None,
        tuple(condition for condition in _conditions(owner, filters) if condition is not None),
        banned_links(owner.pk, in_list(None, filters.is_archived)) if filters.statuses else (),
    )
    has_conditions = text or tag_keys or excluded or search.changes_without_trace or created != ALWAYS
    return search if has_conditions or domain is not None or identified is not None else None


def _conditions(owner: Workspace, filters: Filters) -> Iterator[Condition | None]:
    if filters.destination is not None:
        yield leads_to(filters.destination)
    if filters.creator is not None:
        yield created_by(owner, filters.creator)
    if filters.has_password is not None:
        yield with_password(owner, has_password=filters.has_password)


def _keys_of(tags: str) -> tuple[str, ...]:
    return tuple(sorted({key for tag in tags_in(tags) if (key := tag_key(tag))}))


def in_list(is_active: bool | None, is_archived: bool | None, row: str = "s") -> str:
    """A condition on a row of `links_searchable`, or of `links_link`. None: either."""
    active = {None: "true", True: f"{row}.is_active", False: f"NOT {row}.is_active"}[is_active]
    archived = {None: "", True: f" AND {row}.is_archived", False: f" AND NOT {row}.is_archived"}[is_archived]
    return active + archived


def status_of_row(banned: tuple[int, ...] | None) -> str:
    """The status of a row of `links_searchable s`, as an SQL expression. ``banned``: of `banned_links`."""
    return _STATUS_OF_ROW.format(is_banned=is_banned(banned))


def find(search: Search, values: dict[str, Any], direction: str) -> Matches:
    """Return the first matches in date order if the index can provide the order; otherwise any matches.

    ``values`` has the ``owner`` besides the values of the search.
    """
    by_period = search.uses_index_by_period
    candidates = matching_by_period(search, direction, FETCH_LIMIT + 1) if by_period else matching(search)
    query = _MATCHES.format(
        limit=FETCH_LIMIT,
        reach=0 if search.has_few_candidates else REACH,
        candidates=candidates,
        on_domain=search.on_domain,
        direction=direction,
        match=search.match,
        listed=number_of(None, search.is_archived),
        tagged=number_of(search.is_active, search.is_archived),
    )
    [(links, listed, changes, near, ids, tag_totals, population, excluded)] = fetch(query, values)
    are_first = by_period or near > FETCH_LIMIT
    return Matches(links, listed, changes, near, ids, tag_totals, population - excluded, are_first=are_first)


def matching(search: Search) -> str:
    """Return the query for all matches."""
    if search.has_few_candidates:
        return owned(f"{_candidates(search)} AND {search.match}")
    if not search.uses_index:
        return owned(search.match)
    query = owned(_INDEX_CONDITION.format(mark="'#' || %(owner)s", match=search.index_match))
    if search.addressed is not None:
        query += f" UNION {owned(f'{_ADDRESSED} AND {search.match}')}"
    return query


def _candidates(search: Search) -> str:
    """The first part of a condition on `links_searchable s`, for an index."""
    of_links = search.expires_within is not None or search.are_dead or search.has_indexed_conditions
    if search.identified is not None or of_links:
        return "true"
    found = " UNION ".join(_CANDIDATES[status] for status in search.statuses)
    # An array, so that the planner does not read all links of the owner instead.
    return f"s.link_id = ANY(ARRAY({found}))"


def owned(match: str) -> str:
    return f"SELECT s.link_id AS id FROM links_searchable s WHERE s.owner_id = %(owner)s AND {match}"  # noqa: S608 # constants


def matching_by_period(search: Search, direction: str | None, limit: int, beyond: str = "") -> str:
    """A query for the first ``limit`` matches by creation date; for any matches if ``direction`` is None.

    ``beyond`` is the end of a condition on `links_searchable s`: matches that meet it.
    """
    first, last, step = ("min", "max", 1) if direction == "ASC" else ("max", "min", -1)
    order = "OFFSET 0"
    if direction is not None:
        order = f"ORDER BY s.created_at {direction}, s.link_id {direction} LIMIT {limit}"
    return _BY_PERIOD.format(
        first=_PERIOD.format(end=first, limits=search.on_domain + search.created.condition + beyond),
        last=_PERIOD.format(end=last, limits=search.on_domain + search.created.condition + beyond),
        step=step,
        match=_INDEX_CONDITION.format(
            mark="'#' || %(owner)s || '/' || period", match=search.index_match + beyond
        ),
        order=order,
        limit=limit,
    )
