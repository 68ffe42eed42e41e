"""Converts a record to the values that reports count. The visitor's address is not used beyond this module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from typing import NamedTuple
from urllib.parse import urlsplit

from analytics.dimensions import BEFORE_NUMBER, BETWEEN_COUNTS, DIRECT, UNKNOWN
from analytics.journal.agents import BEFORE_LANGUAGE, long_agent
from analytics.journal.records import BRANCH_SHIFT, COUNTED, OPTED_OUT, SCANNED, Fields
from analytics.models import Dimension
from analytics.visitors.geo import geo
from analytics.visitors.useragent import parse_agent
from analytics.visitors.visitor import REFERRER_CHARACTERS

DAY_MICROSECONDS = 86_400_000_000
_unpack_visitor, _pack_visitor = Struct("<q").unpack, Struct("<q16s").pack
# The constructor of a named tuple takes twice as long.
_new = tuple.__new__
# The characters that separate values in the rows of days.
_SEPARATORS = str.maketrans(dict.fromkeys((BETWEEN_COUNTS, BEFORE_NUMBER), " "))


class Facts(NamedTuple):
    """What is counted of a request. ``keys``: the values of dimensions that a click adds to, see
    `analytics.counting.days`.

    ``client`` is the device, the operating system, the browser and its language, ``place`` the country, the city and
    the region, as in `analytics.dimensions`. ``visitor`` is None for visitors that opted out. ``branch_number``: see
    links.models.Route.
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
    """Where an address is: as a text, with city and region and without them, and the key of the city."""

    text: str
    country_text: str
    country: str
    city_keys: tuple[str, ...]


class _Referrer(NamedTuple):
    """The referrer without parts that may be personal (user, query, fragment), and the key of its site."""

    url: str
    keys: tuple[str, ...]


def facts_of(
    records: Iterable[Fields], salts: Mapping[int, bytes], places: dict[bytes, Place]
) -> list[Facts]:
    """``salts`` is keyed by day since 1970. ``places`` is the caller's cache of look-ups by address.

    A visitor is a hash that identifies somebody per link and day, and identifies nobody once the salt is destroyed. 64
    bits suffice: two of ten million visitors of a link on one day have the same hash with a chance of 1 in 370,000.

    Raises ValueError for an impossible time and for invalid texts.
    """
    # Hot path: each call and each look-up of an attribute counts, and a copy of a hash costs half of a new one. With
    # the salt in front, it is as secure as with a key, which would be a block of its own, like most user agents.
    hashes = {day: blake2b(salt, digest_size=8) for day, salt in salts.items()}
    made: list[Facts] = []
    for time, link_id, kind, flags, address, reason, recorded, referrer, _ in records:
        place = places.get(address)
        if place is None:
            place = places[address] = _located(address)
        text, country_text, country, city_keys = place
        # The cache of clients would be too small for all their languages.
        agent, _, language = recorded.partition(BEFORE_LANGUAGE)
        client, client_keys, agent_hash = _client(agent)
        if language:
            client += f"\t{language.decode()}"
        visitor = None
        if flags & OPTED_OUT:
            text, city_keys = country_text, ()
        else:
            identity = hashes[time // DAY_MICROSECONDS].copy()
            identity.update(_pack_visitor(link_id, agent_hash) + address)
            [visitor] = _unpack_visitor(identity.digest())
        url, referrer_keys = _referrer(referrer)
        keys = client_keys + _country_keys(country, language) + city_keys + referrer_keys
        if flags & SCANNED:
            keys += _SCANNED
        made.append(
            _new(
                Facts,
                (
                    time,
                    link_id,
                    kind,
                    flags & COUNTED != 0,
                    reason.decode() if reason else "",
                    client,
                    text,
                    url,
                    visitor,
                    flags & SCANNED != 0,
                    flags >> BRANCH_SHIFT,
                    keys,
                ),
            )
        )
    return made


def _key(dimension: Dimension, value: str) -> str:
    return f"{dimension:d}{value}"


_SCANNED = (_key(Dimension.SOURCE, "qr"),)


def _located(address: bytes) -> Place:
    """The place of an address of the journal."""
    location = geo().locate(address.decode())
    return place_of(location.country or UNKNOWN, location.city or UNKNOWN, location.region or "")


@lru_cache(maxsize=8192)
def place_of(country: str, city: str, region: str = "") -> Place:
    """``region`` is empty if it is unknown."""
    nowhere = f"{country} {UNKNOWN}"
    place = f"{country} {city}\t{region}" if region else f"{country} {city}"
    place = place.translate(_SEPARATORS)
    return Place(place, nowhere, country, () if place == nowhere else (_key(Dimension.CITY, place),))


@lru_cache(maxsize=8192)
def _country_keys(country: str, language: bytes) -> tuple[str, ...]:
    if language:
        return (_key(Dimension.COUNTRY, f"{country} {language.decode()}"),)
    return () if country == UNKNOWN else (_key(Dimension.COUNTRY, country),)


@lru_cache(maxsize=8192)
def _client(user_agent: bytes) -> tuple[str, tuple[str, ...], bytes]:
    """The text and the key of a client, and a hash of its user agent. ``user_agent`` is as in the journal."""
    user_agent = long_agent(user_agent)
    agent = parse_agent(user_agent.decode())
    browser = (agent.browser or UNKNOWN).translate(_SEPARATORS)
    client = f"{agent.form_factor}\t{agent.operating_system}\t{browser}"
    return client, (_key(Dimension.CLIENT, client),), blake2b(user_agent, digest_size=16).digest()


def site_of(referrer: bytes) -> str:
    """The host of a referrer of the journal without "www."; empty if it has none. Raises ValueError."""
    for key in _referrer(referrer).keys:
        return "" if key[1:] == UNKNOWN else key[1:]
    return ""


@lru_cache(maxsize=8192)
def _referrer(content: bytes) -> _Referrer:
    """The referrer without parts that may be personal, and the key of its host without "www.".

    `analytics.dimensions` has the same rule for stored referrers, in SQL; a test compares both.
    """
    referrer = content.decode()
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
