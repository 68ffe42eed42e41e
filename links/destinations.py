"""From (host, code) to where a link leads and under which conditions: everything a redirect needs, in one read."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import orjson
from django.conf import settings
from django.db import connection

from common.database import read_first
from domains.models import DomainStatus
from links.destination_cache import DestinationCache
from links.utm import with_utm


@dataclass(frozen=True, slots=True)
class Target:
    """A link as the public door sees it. ``location`` is complete: the utm parameters are in it."""

    link_id: int
    public_id: str
    location: str
    redirect_type: int
    is_active: bool
    expires_at: datetime | None
    clicks: int
    max_clicks: int | None
    allowed_countries: tuple[str, ...]
    blocked_countries: tuple[str, ...]
    allowed_devices: tuple[str, ...]
    password: str | None
    # Where the domain sends the visitors of links that are over.
    expired_url: str | None = None

    @property
    def password_version(self) -> str:
        """Changes with every new password, so that what was unlocked by the old one is locked again."""
        return hashlib.sha256((self.password or "").encode()).hexdigest()[:16]

    @property
    def is_guarded(self) -> bool:
        """Whether the answer may differ from one visit to the next, so that no cache may keep it."""
        return bool(
            self.password
            or self.max_clicks is not None
            or self.expires_at
            or self.allowed_countries
            or self.blocked_countries
            or self.allowed_devices
        )


class UnknownCode(NamedTuple):
    """Nothing is known by this code on this domain; None is the default one.

    ``elsewhere`` is where the domain sends visitors instead.
    """

    domain_id: int | None
    elsewhere: str | None


_COLUMNS = """
    l.id, l.public_id::text, l.destination, l.utm, l.redirect_type,
    l.is_active AND NOT links_is_banned(l.id, l.owner_id, l.destination), l.expires_at, n.clicks, l.max_clicks,
    l.allowed_countries, l.blocked_countries, l.allowed_devices, l.password
"""
# A reserved code is only held for its link, which is followed on another host; a retired one has no link.
_ON_OWN_HOST = f"""
    SELECT NULL, NULL, {_COLUMNS}, true, NULL
    FROM links_code c JOIN links_link l ON l.id = c.link_id JOIN links_clickcounter n ON n.link_id = l.id
    WHERE c.code = %(code)s AND c.domain_id IS NULL AND c.kind <> 'reserved'
"""  # noqa: S608 # put together from constants
_ON_CUSTOM_HOST = f"""
    SELECT d.id,
        CASE WHEN d.status = '{DomainStatus.ACTIVE}' AND NOT links_is_host_banned(d.not_found_url)
            THEN d.not_found_url END,
        {_COLUMNS}, d.status = '{DomainStatus.ACTIVE}',
        CASE WHEN NOT links_is_host_banned(d.expired_url) THEN d.expired_url END
    FROM domains_domain d LEFT JOIN (
        links_code c JOIN links_link l ON l.id = c.link_id JOIN links_clickcounter n ON n.link_id = l.id
    ) ON c.domain_id = d.id AND c.code = %(code)s
    WHERE d.host = %(host)s AND d.status <> '{DomainStatus.PENDING}'
"""  # noqa: S608 # put together from constants


Found = Target | UnknownCode | None


def find_target(host: str, code: str) -> Found:
    """What ``code`` means on ``host`` (canonical); None if that is none of ours. No host falls back to another.

    From memory, as long as it still holds there; also while the database is down.
    """
    return destinations().find((site_of(host), code), lambda: read_target(host, code))


def site_of(host: str) -> str:
    """The service may have several names of its own, which mean the same: "" stands for them."""
    return "" if host in settings.BASE_HOSTS else host


@cache
def destinations() -> DestinationCache[Found]:
    """Those of this process."""
    return DestinationCache(settings.DESTINATIONS_KEPT, settings.DESTINATIONS_MB * 1024 * 1024, _cost)


os.register_at_fork(after_in_child=destinations.cache_clear)


def _cost(found: Found) -> int | None:
    if not isinstance(found, Target):
        return 0
    # How many clicks are left is for the database to say.
    return None if found.max_clicks is not None else 2 * len(found.location) + len(found.expired_url or "")


def read_target(host: str, code: str) -> Found:
    """The same, straight from the database."""
    is_own = host in settings.BASE_HOSTS
    query = _ON_OWN_HOST if is_own else _ON_CUSTOM_HOST

    def read() -> tuple[Any, ...] | None:
        with connection.cursor() as cursor:
            cursor.execute(query, {"host": host, "code": code})
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

    row = read_first(read)
    if row is None:
        return UnknownCode(None, None) if is_own else None
    domain_id, not_found_url, link_id, *_ = row
    return UnknownCode(domain_id, not_found_url) if link_id is None else _target(*row[2:])


def _target(  # noqa: PLR0917 # a row, in the order of _COLUMNS
    link_id: int,
    public_id: str,
    destination: str,
    utm: str,
    redirect_type: int,
    is_active: bool,
    expires_at: datetime | None,
    clicks: int,
    max_clicks: int | None,
    allowed_countries: list[str],
    blocked_countries: list[str],
    allowed_devices: list[str],
    password: str | None,
    domain_is_active: bool,
    expired_url: str | None,
) -> Target:
    return Target(
        link_id=link_id,
        public_id=public_id,
        location=with_utm(destination, orjson.loads(utm)),
        redirect_type=redirect_type,
        is_active=is_active and domain_is_active,
        expires_at=expires_at,
        clicks=clicks,
        max_clicks=max_clicks,
        allowed_countries=tuple(allowed_countries),
        blocked_countries=tuple(blocked_countries),
        allowed_devices=tuple(allowed_devices),
        password=password,
        expired_url=expired_url,
    )
