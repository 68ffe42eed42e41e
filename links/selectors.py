"""Reads single links and an owner's totals. Lists are in `links.lists`.

Trades clarity for speed: `link_of` makes models from rows by the positions of their columns, without the ORM, which
takes longer to write a statement than the database to execute it. docs/adr/0008-cost-of-an-api-request.md has the
reasons.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from django.db import connection, models

from accounts.models import Workspace
from common import instances
from common.database import fetch, prepared_cursor
from common.ids import parse_public_id
from domains.models import Domain
from links.availability import BAN_REASON, STATUS
from links.errors import url_not_found
from links.health.states import NEVER_CHECKED, Health
from links.key_limits import condition_of
from links.models import ClickCounter, Link


def _names(model: type[models.Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]


_LINK_NAMES, _COUNTER_NAMES = _names(Link), _names(ClickCounter)
# What answers about a link need of its domain. The other columns are deferred.
_DOMAIN_NAMES = ["id", "public_id", "host", "status"]
_JSON = [field.attname for field in Link._meta.concrete_fields if isinstance(field, models.JSONField)]
_HEALTH = ("coalesce(h.status, 'unknown')", "h.checked_at", "h.problem", "h.failing_since")
# Each as a list in JSON; null without such a row. Joins would copy all columns of the link once more for each table,
# which took a fifth of the processor time that the server needs for reading a link.
_JOINED = {
    "domain": ("domains_domain", "id = l.domain_id", _DOMAIN_NAMES),
    "counter": ("links_clickcounter", "link_id = l.id", _COUNTER_NAMES),
    "health": ("links_linkhealth", "link_id = l.id", Health._fields),
}
# For a query that names the links ``l``.
COLUMNS = ", ".join([
    *(f"l.{name}{'::text' if name in _JSON else ''}" for name in _LINK_NAMES),
    *(
        f"(SELECT json_build_array({', '.join(names)})::text FROM {table} WHERE {condition})"  # noqa: S608 # constants
        for table, condition, names in _JOINED.values()
    ),
    BAN_REASON,
])  # fmt: skip
# The values of a new link: those of fields whose default is a function, and of all others.
_FACTORIES = {
    field.attname: field.default
    for field in Link._meta.concrete_fields
    if field.has_default() and callable(field.default)
}
_DEFAULTS = {
    field.attname: field.get_default()
    for field in Link._meta.concrete_fields
    if field.attname not in _FACTORIES
}
# For a query of one link by its ``public_id``. With "=", the planner prefers an index of the owner before the first
# ANALYZE, and such a plan reads all links of the owner.
IS_OWNER = "IS NOT DISTINCT FROM %(owner)s"


def unsaved_link(*, related: Mapping[str, models.Model | None], **columns: Any) -> Link:
    """Build a link as ``Link(...)`` does. ``related`` has the objects of foreign keys, whose columns it sets, too.

    Raises TypeError if there is no such column.
    """
    made = {name: make() for name, make in _FACTORIES.items()}
    keys = {f"{name}_id": None if other is None else other.pk for name, other in related.items()}
    values = {**_DEFAULTS, **made, **keys, **columns}
    if len(values) > len(_DEFAULTS) + len(_FACTORIES):
        raise TypeError(f"No columns: {sorted(values.keys() - _DEFAULTS.keys() - _FACTORIES.keys())}.")
    return instances.unsaved(Link, values, related)


def link_of(row: Sequence[Any]) -> Link:
    """``row`` has the values of `COLUMNS`."""
    values = dict(zip(_LINK_NAMES, row, strict=False))
    for name in _JSON:
        if values[name] is not None:
            values[name] = orjson.loads(values[name])
    domain, counter, health, values["ban_reason"] = row[len(_LINK_NAMES) :]
    values["health"] = NEVER_CHECKED if health is None else _health(*orjson.loads(health))
    counter = instances.saved(ClickCounter, dict(zip(_COUNTER_NAMES, orjson.loads(counter), strict=True)))
    if domain is not None:
        of_domain = dict(zip(_DOMAIN_NAMES, orjson.loads(domain), strict=True))
        of_domain["public_id"] = uuid.UUID(of_domain["public_id"])
        domain = instances.saved(Domain, of_domain)
    return instances.saved(Link, values, {"domain": domain, "counter": counter})


def _health(status: str, checked_at: str | None, problem: str | None, failing_since: str | None) -> Health:
    checked, failing = (
        None if moment is None else datetime.fromisoformat(moment) for moment in (checked_at, failing_since)
    )
    return Health(status, checked, problem, failing)


TOP_LINKS = 5


class CreatorRow(NamedTuple):
    public_id: uuid.UUID
    first_name: str
    last_name: str
    email: str


class LinkRow(NamedTuple):
    public_id: uuid.UUID
    original_url: str
    target_url: str | None
    short_code: str
    custom_code: str | None
    domain_id: uuid.UUID | None
    host: str | None
    title: str | None
    tags: list[str]
    clicks: int
    is_active: bool
    is_archived: bool
    starts_at: datetime | None
    expires_at: datetime | None
    has_password: bool
    redirect_type: int
    created_at: datetime
    updated_at: datetime
    status: str
    health: Health
    creator: CreatorRow | None
    # The primary key, and the value by which the list is sorted.
    pk: int
    key: Any


class Totals(NamedTuple):
    links: int
    active_links: int
    clicks: int


@dataclass(frozen=True, slots=True)
class Overview:
    links: int
    active_links: int
    clicks: int
    top: list[LinkRow]


# Saves half of the processor time of reading a link, compared with the ORM.
_LINK = f"""
SELECT {COLUMNS} FROM links_link l WHERE l.public_id = %(link)s AND l.owner_id {IS_OWNER}
"""  # noqa: S608 # composed of constants
_LINKS = f"SELECT {COLUMNS} FROM links_link l WHERE l.id = ANY (%(links)s::bigint[])"  # noqa: S608 # composed of constants
_LOCK = " FOR UPDATE OF l"
_LOCKED_LINK = _LINK + _LOCK
_ROWS = f"""
SELECT l.public_id, l.original_url, l.target_url, l.short_code, l.custom_code, d.public_id, d.host, l.title, l.tags,
    n.clicks, l.is_active, l.is_archived, l.starts_at, l.expires_at, l.password IS NOT NULL, l.redirect_type,
    l.created_at, l.updated_at, {STATUS}, {", ".join(_HEALTH)}, page.id, page.key,
    u.public_id, u.first_name, u.last_name, u.email
FROM (
    SELECT id, key FROM ({{candidates}}) c
    ORDER BY key {{direction}}, id {{direction}} LIMIT %(limit)s OFFSET %(offset)s
) page
JOIN links_link l ON l.id = page.id
JOIN links_clickcounter n ON n.link_id = l.id
LEFT JOIN domains_domain d ON d.id = l.domain_id
LEFT JOIN links_linkhealth h ON h.link_id = l.id
LEFT JOIN accounts_user u ON u.id = l.creator_id
ORDER BY page.key {{order}}, page.id {{order}}
"""  # noqa: S608 # composed of constants
_TOTALS = """
SELECT coalesce(sum(links), 0)::bigint, coalesce(sum(active_links), 0)::bigint, coalesce(sum(clicks), 0)::bigint
FROM links_ownertotals WHERE owner_id = %(owner)s
"""
_NUMBER = "SELECT coalesce(sum({number}), 0)::bigint FROM links_ownertotals WHERE owner_id = %(owner)s"
_INSTALLATION = """
SELECT coalesce(sum(links), 0)::bigint, coalesce(sum(active_links), 0)::bigint, coalesce(sum(clicks), 0)::bigint
FROM links_ownertotals
"""
_CLAIMED = """
SELECT coalesce(sum(v.clicks), 0) FROM links_visitorkey k JOIN links_visitorclicks v ON v.link_id = k.link_id
WHERE k.link_id = %(link)s
    AND v.visitor = ANY (SELECT sha256(uuid_send(k.key) || visitor) FROM unnest(%(visitors)s::bytea[]) visitor)
"""
_BY_CLICKS = "SELECT link_id AS id, clicks AS key FROM links_clickcounter WHERE owner_id = %(owner)s"
_LIMITED = "FROM links_link l JOIN links_clickcounter n ON n.link_id = l.id WHERE l.owner_id = %(owner)s"
_LIMITED_BY_CLICKS = f"SELECT l.id AS id, n.clicks AS key {_LIMITED}"
_LIMITED_TOTALS = f"""
SELECT count(*), count(*) FILTER (WHERE l.is_active), coalesce(sum(n.clicks), 0)::bigint {_LIMITED}
"""


def get_link(owner: Workspace, public_id: str, *, lock: bool = False) -> Link:
    """Raises NotFound for an unknown or malformed id, another owner's link and one outside the limits of the key.

    ``lock`` blocks other writers until the commit.
    """
    identifier = parse_public_id(public_id)
    row, query, values = None, _LOCKED_LINK if lock else _LINK, {"link": identifier, "owner": owner.pk}
    if owner.key is not None:
        condition, limits = condition_of(owner.key)
        query, values = _LINK + condition + (_LOCK if lock else ""), values | limits
    if identifier is not None:
        with prepared_cursor() as cursor:
            cursor.execute(query, values)
            row = cursor.fetchone()
    if row is None:
        raise url_not_found()
    return link_of(row)


# Before the externalId of a link, in place of its id.
EXTERNAL = "ext_"


def id_of(owner: Workspace, named: str) -> str:
    """The id of the link that ``named`` means: its id, or ``ext_`` and its externalId. Empty without such a link."""
    if not named.startswith(EXTERNAL):
        return named
    if "\0" in named:
        return ""
    links = Link.objects.filter(owner=owner, external_id=named.removeprefix(EXTERNAL))
    public_id = links.values_list("public_id", flat=True).first()
    return "" if public_id is None else str(public_id)


def get_links(keys: Collection[int]) -> list[Link]:
    """The links with these primary keys that exist, with their creators, in two queries."""
    with connection.cursor() as cursor:
        cursor.execute(_LINKS, {"links": list(keys)})
        links = [link_of(row) for row in cursor.fetchall()]
    models.prefetch_related_objects(links, "creator")
    return links


def reload_bans(links: Iterable[Link]) -> None:
    """A change of the destination may have ended a ban; it cannot begin one, because new URLs are checked."""
    banned = {link.pk: link for link in links if link.ban_reason is not None}
    if banned:
        for link in Link.objects.filter(pk__in=banned).only("pk").with_bans():
            banned[link.pk].ban_reason = link.ban_reason


def claimed_clicks(link_id: int, visitors: list[bytes]) -> int:
    """The clicks that a visitor has claimed of a link with a limit per visitor.

    ``visitors``: the hashes of the visitor's address, as for `links.clicks.claim_click`.
    """
    [[clicks]] = fetch(_CLAIMED, {"link": link_id, "visitors": visitors})
    return int(clicks)


def overview(owner: Workspace) -> Overview:
    """Add up the links within the limits of the key."""
    condition, limits = condition_of(owner.key)
    values = {**limits, "owner": owner.pk, "limit": TOP_LINKS, "offset": 0}
    links = _LIMITED_BY_CLICKS + condition if condition else _BY_CLICKS
    top = link_rows(links, values, direction="DESC", order="DESC")
    if not condition:
        return Overview(*totals(owner), top)
    [sums] = fetch(_LIMITED_TOTALS + condition, values)
    return Overview(*Totals(*sums), top)


def totals(owner: Workspace) -> Totals:
    [sums] = fetch(_TOTALS, {"owner": owner.pk})
    return Totals(*sums)


def number_of(is_active: bool | None, is_archived: bool | None) -> str:
    """An SQL expression on a row of totals: the number of links that are active and archived, or not. None: either."""
    links, archived = (
        {None: f"{kind}links", True: active, False: f"({kind}links - {active})"}[is_active]
        for kind, active in (("", "active_links"), ("archived_", "archived_active_links"))
    )
    return {None: links, True: archived, False: f"({links} - {archived})"}[is_archived]


def count_links(owner: Workspace, *, is_active: bool | None, is_archived: bool | None) -> int:
    """None: either."""
    [[links]] = fetch(_NUMBER.format(number=number_of(is_active, is_archived)), {"owner": owner.pk})
    return int(links)


def installation_totals() -> Totals:
    """Return the totals of all owners."""
    [sums] = fetch(_INSTALLATION, {})
    return Totals(*sums)


def link_rows(candidates: str, values: dict[str, Any], *, direction: str, order: str) -> list[LinkRow]:
    """Return ``limit`` links from ``offset`` on.

    ``candidates`` is a query for (id, key). ``direction`` sorts it; ``order`` sorts the returned page.
    """
    query = _ROWS.format(candidates=candidates, direction=direction, order=order)
    return [_row(*columns) for columns in fetch(query, values)]


def _row(*columns: Any) -> LinkRow:
    *own, status, checked_at, problem, failing_since, pk, key, public_id, first_name, last_name, email = (
        columns
    )
    creator = None if public_id is None else CreatorRow(public_id, first_name, last_name, email)
    return LinkRow._make((*own, Health(status, checked_at, problem, failing_since), creator, pk, key))


def tag_key(tag: str) -> str:
    """Normalize a tag: spellings that differ only in case or outer whitespace have the same key."""
    return tag.strip().casefold()
