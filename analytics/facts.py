"""What a record says about a click, in the terms that reports count by. The visitor's address ends here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple
from urllib.parse import urlsplit

from analytics.geo import geo
from analytics.records import COUNTED, OPTED_OUT, SCANNED, Record
from analytics.useragent import parse_agent

UNKNOWN = "unknown"
DAY_MICROSECONDS = 86_400_000_000
REFERRER_CHARACTERS = 512


class Facts(NamedTuple):
    """A row of the batch, see analytics.rollups."""

    time: int
    link_id: int
    kind: int
    counted: bool
    reason: str
    country: str
    city: str
    device: str
    browser: str
    operating_system: str
    referrer: str
    referrer_host: str
    visitor: str | None
    scanned: bool


class Place(NamedTuple):
    country: str
    city: str


def facts(record: Record, salts: Mapping[int, bytes], places: dict[str, Place]) -> Facts:
    """``salts`` by day since 1970. ``places`` remembers what was looked up, for as long as the caller likes.

    Raises ValueError for a time that no click can have.
    """
    opted_out = bool(record.flags & OPTED_OUT)
    place = places.get(record.address)
    if place is None:
        place = places[record.address] = _place(record.address)
    agent = parse_agent(record.user_agent)
    referrer, referrer_host = _referrer(record.referrer)
    return Facts(
        record.time,
        record.subject,
        record.kind,
        bool(record.flags & COUNTED),
        record.reason,
        place.country,
        UNKNOWN if opted_out else place.city,
        agent.form_factor,
        agent.browser or UNKNOWN,
        agent.operating_system,
        referrer,
        referrer_host,
        None if opted_out else _visitor(record, salts[record.time // DAY_MICROSECONDS]),
        bool(record.flags & SCANNED),
    )


def _place(address: str) -> Place:
    location = geo().locate(address)
    return Place(location.country or UNKNOWN, location.city or UNKNOWN)


def _visitor(record: Record, salt: bytes) -> str:
    """Tells the visitors of one link and day from each other, and nothing once the salt is gone."""
    seen = f"{record.subject}|{record.address}|{record.user_agent}".encode()
    return blake2b(seen, digest_size=16, key=salt).hexdigest()


@lru_cache(maxsize=8192)
def _referrer(referrer: str) -> tuple[str, str]:
    """Where the visitor came from, without what may be personal (user, query, fragment); and its host.

    A site with and without "www." is one site.
    """
    if not referrer:
        return "", "direct"
    try:
        parts = urlsplit(referrer)
        host = parts.hostname
    except ValueError:
        host = None
    if not host:
        return UNKNOWN, UNKNOWN
    if ":" in host:
        host = f"[{host}]"
    return f"{parts.scheme}://{host}{parts.path}"[:REFERRER_CHARACTERS], host.removeprefix("www.")
