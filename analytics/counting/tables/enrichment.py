"""Converts a record to the values that reports count. The visitor's address is not used beyond this module."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from typing import NamedTuple
from urllib.parse import urlsplit

from analytics.dimensions import DIRECT, UNKNOWN
from analytics.journal.records import COUNTED, OPTED_OUT, SCANNED, Record
from analytics.visitors.geo import geo
from analytics.visitors.useragent import parse_agent
from analytics.visitors.visitor import REFERRER_CHARACTERS

DAY_MICROSECONDS = 86_400_000_000
_HASH = Struct("<q")


class Facts(NamedTuple):
    """One row of the temporary batch table, see analytics.counting.tables.rollups."""

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
    visitor: int | None
    scanned: bool
    branch_number: int = 0


class Place(NamedTuple):
    country: str
    city: str


def facts(record: Record, salts: Mapping[int, bytes], places: dict[str, Place]) -> Facts:
    """``salts`` is keyed by day since 1970. ``places`` is the caller's cache of look-ups by address.

    Raises ValueError for an impossible time.
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
        record.branch,
    )


def _place(address: str) -> Place:
    location = geo().locate(address)
    return Place(location.country or UNKNOWN, location.city or UNKNOWN)


def _visitor(record: Record, salt: bytes) -> int:
    """A hash that identifies a visitor per link and day, and identifies nobody once the salt is destroyed.

    64 bits suffice: two of ten million visitors of a link on one day have the same hash with a chance of 1 in 370,000.
    """
    identity = f"{record.subject}|{record.address}|{record.user_agent}".encode()
    number: int = _HASH.unpack(blake2b(identity, digest_size=_HASH.size, key=salt).digest())[0]
    return number


@lru_cache(maxsize=8192)
def _referrer(referrer: str) -> tuple[str, str]:
    """The referrer without parts that may be personal (user, query, fragment), and its host without "www.".

    `analytics.dimensions` has the same rule for stored referrers, in SQL; a test compares both.
    """
    if not referrer:
        return "", DIRECT
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
