"""Lookup of a link by (host, code): everything that a redirect needs, in one query.

The queries trade clarity for speed. Those for many codes are written so that the server cannot choose a slow plan: a
join read all 20,000 links of a table without statistics (135 ms instead of 1.6 for 32 codes), and an array was planned
again each time (350 us instead of 50 for three).
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import orjson
from django.conf import settings
from django.db import Error

from common.database import is_outage, prepared_cursor, read_first
from common.host import state
from common.host.metrics import count_lookups
from domains.models import DomainStatus
from links.availability import BAN_REASON
from links.destinations.cache import DestinationCache
from links.destinations.known_links import known_links
from links.destinations.patience import patient_reads
from links.destinations.utm import with_utm
from links.fields import STORED, Kind, RedirectType, Use

# The fields of a target, and the SQL expressions that read them. `utm` becomes a part of the location, and the fields
# of `Use.ROUTING` become `routing`. JSON is read as text.
_FIELDS = [field for field in STORED if field.use is not None]
_IS_REPLACED = "l.is_dead AND l.fallback_url IS NOT NULL"
EXPRESSIONS = {
    "link_id": "l.id",
    "public_id": "l.public_id::text",
    "location": f"CASE WHEN {_IS_REPLACED} THEN l.fallback_url ELSE l.destination END",
    "ban_reason": BAN_REASON,
    "clicks": "n.clicks",
    **{field.column: f"l.{field.column}{'::text' if field.kind is Kind.JSON else ''}" for field in _FIELDS},
    # Caches keep a permanent redirect, and would not notice that the destination recovers.
    "redirect_type": f"CASE WHEN {_IS_REPLACED} THEN {RedirectType.FOUND.value} ELSE l.redirect_type END",
}
_COLUMNS = ", ".join(EXPRESSIONS.values())
LISTS = [field.column for field in _FIELDS if field.kind is Kind.LIST]
_LINK = "links_code c JOIN links_link l ON l.id = c.link_id JOIN links_clickcounter n ON n.link_id = l.id"
# A reserved code belongs to a link that redirects on another host only. A retired code has no link.
_IS_ON_OWN_HOST = "c.domain_id IS NULL AND c.kind <> 'reserved'"
_OF_OWN_HOST = f"NULL::bigint, NULL::text, true, NULL::text, NULL::text, {_COLUMNS}"
_OF_DOMAIN = f"""
    d.id,
    CASE WHEN d.status = '{DomainStatus.ACTIVE}' AND NOT bans_is_host_banned(d.not_found_url)
        THEN d.not_found_url END,
    d.status = '{DomainStatus.ACTIVE}',
    CASE WHEN NOT bans_is_host_banned(d.expired_url) THEN d.expired_url END,
    CASE WHEN d.status = '{DomainStatus.ACTIVE}' AND d.pages <> '{{}}' THEN d.pages::text END,
    {_COLUMNS}
"""


def _on_own_host(columns: str, code: str) -> str:
    return f"SELECT {columns} FROM {_LINK} WHERE c.code = {code} AND {_IS_ON_OWN_HOST}"  # noqa: S608 # built from constants


def _on_custom_host(columns: str, host: str, code: str) -> str:
    return f"""
        SELECT {columns} FROM domains_domain d LEFT JOIN ({_LINK}) ON c.domain_id = d.id AND c.code = {code}
        WHERE d.host = {host} AND d.status <> '{DomainStatus.PENDING}'
    """  # noqa: S608 # built from constants


ON_OWN_HOST = _on_own_host(_OF_OWN_HOST, "%(code)s")
ON_CUSTOM_HOST = _on_custom_host(_OF_DOMAIN, "%(host)s", "%(code)s")

# The same for many codes, as JSON arrays. Each row begins with the position of its code, from 1, and whether the query
# for one code has a row for it. LIMIT makes the server look up each code by the indexes: with outdated statistics of
# the tables, it would choose a join that reads all links. The server does not estimate a JSON array by its length.
# With arrays of its own, it would plan the statement again for each short one.
_MANY = """
    SELECT place, target.* FROM ROWS FROM ({codes}) WITH ORDINALITY wanted ({names}, place)
    LEFT JOIN LATERAL ({query} LIMIT 1) target ON true
"""
MANY_ON_OWN_HOST = _MANY.format(
    codes="json_array_elements_text(%(codes)s::json)",
    names="code",
    query=_on_own_host(f"true, {_OF_OWN_HOST}", "wanted.code"),
)
MANY_ON_CUSTOM_HOSTS = _MANY.format(
    codes="json_array_elements_text(%(hosts)s::json), json_array_elements_text(%(codes)s::json)",
    names="host, code",
    query=_on_custom_host(f"true, {_OF_DOMAIN}", "wanted.host", "wanted.code"),
)

# The format of the host's persistent cache. Increment it with every change of the meaning of a field of `Target`, such
# as a new type of condition in `routing`: a release does not read the entries of another one.
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Target:
    """A link as a redirect needs it.

    ``location`` is complete: it includes the utm parameters. While the destination is dead, it is the fallback.

    A field that restricts who may follow the link has the value of an unrestricted link as its default.
    """

    link_id: int
    public_id: str
    location: str
    redirect_type: int
    is_active: bool = True
    expires_at: datetime | None = None
    clicks: int = 0
    max_clicks: int | None = None
    max_clicks_per_visitor: int | None = None
    allowed_countries: tuple[str, ...] = ()
    blocked_countries: tuple[str, ...] = ()
    allowed_devices: tuple[str, ...] = ()
    password: str | None = None
    # Where visitors go after the expiry or the last click: the link's URL, or else the domain's.
    expired_url: str | None = None
    # "legal" or "other" if a ban applies, whose link is not active either. None: no ban.
    ban_reason: str | None = None
    starts_at: datetime | None = None
    # Where visitors go before `starts_at`.
    not_started_url: str | None = None
    # The header of redirects.
    referrer_policy: str | None = None
    # JSON: {"forward": bool, "rules": [...], "split": [...], "utm": {...}}, with entries as in `Link.rules` and
    # `Link.split`. None if every visitor goes to `location`.
    routing: str | None = None
    # JSON: {"title": ..., "description": ..., "imageUrl": ...}. The card that messengers show.
    preview: str | None = None
    # JSON: the domain's own words on pages for visitors, as `Domain.pages`. None: it has none.
    pages: str | None = None

    @property
    def password_version(self) -> str:
        """Changes with every new password, so that cookies of the old password no longer unlock the link."""
        return hashlib.sha256((self.password or "").encode()).hexdigest()[:16]

    @property
    def is_capped(self) -> bool:
        """Whether only a visit that claims a click may learn the location."""
        return self.max_clicks is not None or self.max_clicks_per_visitor is not None

    @property
    def is_guarded(self) -> bool:
        """Whether the response may differ between visits, so that HTTP caches must not store it."""
        return self.is_restricted_beyond(_DESCRIPTIVE)

    def is_restricted_beyond(self, known: frozenset[str]) -> bool:
        """Whether a field outside ``known`` differs from its default. A field without a default always does."""
        return any(getattr(self, name) != default for name, default in _defaults_beyond(type(self), known))  # type: ignore[arg-type] # it takes the class for an instance


@cache
def _defaults_beyond(kind: type[Target], known: frozenset[str]) -> list[tuple[str, Any]]:
    return [(field.name, field.default) for field in fields(kind) if field.name not in known]


# These fields say what the link is; none of them restricts who may follow it. `clicks` only matters with a limit.
_DESCRIPTIVE = frozenset((
    *("link_id", "public_id", "location", "clicks", "ban_reason", "pages"),
    *(field.column for field in STORED if field.use is Use.ANSWER),
))  # fmt: skip


class UnknownCode(NamedTuple):
    """No link has this code on this domain. ``domain_id`` is None for the default domain.

    ``elsewhere`` is the URL to which the domain redirects visitors instead. ``is_served`` is False if the domain is
    not active. ``pages``: as those of a `Target`.
    """

    domain_id: int | None
    elsewhere: str | None
    is_served: bool = True
    pages: str | None = None


LookupResult = Target | UnknownCode | None


def find_target(host: str, code: str) -> LookupResult:
    """Look up ``code`` on ``host`` (canonical); None for an unknown host. No host falls back to another.

    Uses the in-memory cache first. During a database outage it falls back to the host's persistent cache.
    """
    try:
        return destinations().find(
            (site_of(host), code), lambda: patient_reads().read(lambda: load_target(host, code))
        )
    except Error as error:
        if not is_outage(error) or (target := recall_target(host, code)) is None:
            raise
        return target


def load_target(host: str, code: str) -> LookupResult:
    """Read from the database and update the host's persistent cache. Raises the database's errors."""
    site = site_of(host)
    numbers, read_at = state.revisions_of(site, code), state.microseconds()
    result = read_target(host, code)
    known_links().remember(site, code, numbers, pack(result), read_at=read_at)
    return result


def pack(result: LookupResult) -> bytes | None:
    """The form in which the host's persistent cache holds a link. None: it must not hold this result.

    Only the database knows how many clicks a capped link has left.
    """
    is_cacheable = isinstance(result, Target) and result.max_clicks is None
    return orjson.dumps([FORMAT, result]) if is_cacheable else None


def recall_target(host: str, code: str) -> Target | None:
    """Read a link from the host's persistent cache during a database outage; None if it is unknown or stale.

    A change that reached this host invalidates the entry. So do STALE_SECONDS since this host may first have missed
    a change: it has no contact with the database now, or had none for a while since it read the link.
    """
    if state.unheard_seconds() > settings.STALE_SECONDS:
        return None
    packed = known_links().recall(site_of(host), code)
    target = None if packed is None else _unpacked(packed)
    if target is not None:
        count_lookups(remembered=1)
    return target


def _unpacked(packed: bytes) -> Target | None:
    """Return None for an entry that another release wrote."""
    entry = orjson.loads(packed)
    if not isinstance(entry, list) or entry[0] != FORMAT:
        return None
    fields: dict[str, Any] = entry[1]
    if fields.keys() != {field.name for field in dataclasses.fields(Target)}:
        return None
    for name in ("starts_at", "expires_at"):
        fields[name] = fields[name] and datetime.fromisoformat(fields[name])
    for name, value in fields.items():
        if isinstance(value, list):
            fields[name] = tuple(value)
    return Target(**fields)


def site_of(host: str) -> str:
    """The cache key of a host. "" represents all of the service's own host names."""
    return "" if host in settings.BASE_HOSTS else host


@cache
def destinations() -> DestinationCache[LookupResult]:
    """Return the process's cache."""
    return DestinationCache(settings.DESTINATIONS_KEPT, settings.DESTINATIONS_MB * 1024 * 1024, _cost)


os.register_at_fork(after_in_child=destinations.cache_clear)


def _cost(result: LookupResult) -> int | None:
    if not isinstance(result, Target):
        return 0
    # The database decides whether a click is left.
    if result.is_capped:
        return None
    texts = (result.expired_url, result.not_started_url, result.routing, result.preview)
    return 2 * len(result.location) + sum(len(text) for text in texts if text)


def read_target(host: str, code: str) -> LookupResult:
    """Read the link as ``find_target`` does, but without any cache."""
    is_own = host in settings.BASE_HOSTS
    query = ON_OWN_HOST if is_own else ON_CUSTOM_HOST

    def read() -> tuple[Any, ...] | None:
        with prepared_cursor() as cursor:
            cursor.execute(query, {"host": host, "code": code})
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

    return result_of(read_first(read), is_own=is_own)


def result_of(row: Sequence[Any] | None, *, is_own: bool) -> LookupResult:
    """Convert a row of `links.destinations.lookup`. ``is_own``: the host is one of the service's own."""
    if row is None:
        return UnknownCode(None, None) if is_own else None
    domain_id, not_found_url, domain_is_active, expired_url, pages, *columns = row
    # The links of a domain share one text.
    pages = pages and sys.intern(pages)
    link = dict(zip(EXPRESSIONS, columns, strict=True))
    if link["link_id"] is None:
        return UnknownCode(domain_id, not_found_url, domain_is_active, pages)
    return _target(link, domain_is_active=domain_is_active, expired_url=expired_url, pages=pages)


def _target(
    link: dict[str, Any], *, domain_is_active: bool, expired_url: str | None, pages: str | None
) -> Target:
    utm = link.pop("utm")
    link["routing"] = _routing(link.pop("forward_query"), link.pop("rules"), link.pop("split"), utm)
    link["location"] = with_utm(link["location"], orjson.loads(utm))
    link["is_active"] = link["is_active"] and link["ban_reason"] is None and domain_is_active
    link["expired_url"] = link["expired_url"] or expired_url
    for name in LISTS:
        link[name] = tuple(link[name])
    return Target(**link, pages=pages)


def _routing(forward: bool, rules: str, split: str, utm: str) -> str | None:
    """Composed here: planning the same in SQL takes a seventh of the time of the query."""
    if not forward and rules == split == "[]":
        return None
    return f'{{"forward": {str(forward).lower()}, "rules": {rules}, "split": {split}, "utm": {utm}}}'
