"""Converts a record to the values that reports count. The visitor's address is not used beyond this module."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from typing import NamedTuple
from urllib.parse import urlsplit

from analytics.dimensions import BEFORE_NUMBER, BETWEEN_COUNTS, DIRECT, UNKNOWN
from analytics.journal.records import BRANCH_SHIFT, COUNTED, OPTED_OUT, SCANNED, Record
from analytics.models import Dimension
from analytics.visitors.geo import geo
from analytics.visitors.useragent import parse_agent
from analytics.visitors.visitor import REFERRER_CHARACTERS

DAY_MICROSECONDS = 86_400_000_000
_HASH = Struct("<q")
# The characters that separate values in the rows of days.
_SEPARATORS = str.maketrans(dict.fromkeys((BETWEEN_COUNTS, BEFORE_NUMBER), " "))


class Facts(NamedTuple):
    """What is counted of a request. ``keys``: the values of dimensions that a click adds to, see `tables.days`.

    ``client`` is the device, the operating system and the browser, ``place`` the country and the city, as in
    `analytics.dimensions`. ``visitor`` is None for visitors that opted out. ``branch_number``: see links.models.Route.
    """

    time: int
    link_id: int
    kind: int
    counted: bool
    reason: str
    client: str
    place: str
    referrer: str
    visitor: int | None
    scanned: bool
    branch_number: int
    keys: tuple[str, ...]


class Place(NamedTuple):
    country: str
    city: str


class _Referrer(NamedTuple):
    """The referrer without parts that may be personal (user, query, fragment), and the key of its site."""

    url: str
    keys: tuple[str, ...]


def facts(record: Record, salts: Mapping[int, bytes], places: dict[str, Place]) -> Facts:
    """``salts`` is keyed by day since 1970. ``places`` is the caller's cache of look-ups by address.

    Raises ValueError for an impossible time.
    """
    flags = record.flags
    opted_out = bool(flags & OPTED_OUT)
    place = places.get(record.address)
    if place is None:
        place = places[record.address] = _place(record.address)
    where, keys_of_place = _keys_of_place(place.country, UNKNOWN if opted_out else place.city)
    client, key_of_client = _client(record.user_agent)
    referrer = _referrer(record.referrer)
    return Facts(
        record.time,
        record.subject,
        record.kind,
        bool(flags & COUNTED),
        record.reason,
        client,
        where,
        referrer.url,
        None if opted_out else _visitor(record, salts[record.time // DAY_MICROSECONDS]),
        bool(flags & SCANNED),
        flags >> BRANCH_SHIFT,
        (key_of_client, *keys_of_place, *referrer.keys, *(_SCANNED if flags & SCANNED else ())),
    )


def _key(dimension: Dimension, value: str) -> str:
    return f"{dimension:d}{value}"


_SCANNED = (_key(Dimension.SOURCE, "qr"),)


@lru_cache(maxsize=8192)
def _keys_of_place(country: str, city: str) -> tuple[str, tuple[str, ...]]:
    """The text and the keys of a place."""
    countries = () if country == UNKNOWN else (_key(Dimension.COUNTRY, country),)
    cities = () if city == UNKNOWN else (_key(Dimension.CITY, f"{country} {city}"),)
    return f"{country} {city}", countries + cities


def _place(address: str) -> Place:
    location = geo().locate(address)
    return Place(location.country or UNKNOWN, (location.city or UNKNOWN).translate(_SEPARATORS))


def _visitor(record: Record, salt: bytes) -> int:
    """A hash that identifies a visitor per link and day, and identifies nobody once the salt is destroyed.

    64 bits suffice: two of ten million visitors of a link on one day have the same hash with a chance of 1 in 370,000.
    """
    identity = f"{record.subject}|{record.address}|{record.user_agent}".encode()
    number: int = _HASH.unpack(blake2b(identity, digest_size=_HASH.size, key=salt).digest())[0]
    return number


@lru_cache(maxsize=8192)
def _client(user_agent: str) -> tuple[str, str]:
    """The text and the key of a client."""
    agent = parse_agent(user_agent)
    browser = (agent.browser or UNKNOWN).translate(_SEPARATORS)
    client = f"{agent.form_factor}\t{agent.operating_system}\t{browser}"
    return client, _key(Dimension.CLIENT, client)


@lru_cache(maxsize=8192)
def _referrer(referrer: str) -> _Referrer:
    """The referrer without parts that may be personal, and the key of its host without "www.".

    `analytics.dimensions` has the same rule for stored referrers, in SQL; a test compares both.
    """
    if not referrer:
        return _Referrer("", ())
    try:
        parts = urlsplit(referrer.translate(_SEPARATORS))
        host = parts.hostname
    except ValueError:
        host = None
    if not host:
        return _Referrer(UNKNOWN, (_key(Dimension.REFERRER, UNKNOWN),))
    if ":" in host:
        host = f"[{host}]"
    site = host.removeprefix("www.")
    keys = () if site == DIRECT else (_key(Dimension.REFERRER, site),)
    return _Referrer(f"{parts.scheme}://{host}{parts.path}"[:REFERRER_CHARACTERS], keys)
