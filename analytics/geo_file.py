"""A file in MaxMind's format: what it says of an address, and its replacement by a newer version.

The published layouts are read: nested ({"country": {"iso_code": ...}, "city": {"names": {"en": ...}}}) and
flat ({"country_code": ..., "city": ...}, or {"country": ..., "city": ...}).
"""

import logging
import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import NamedTuple, TypedDict

import maxminddb

from common.countries import COUNTRY_CODES

CITY_CHARACTERS = 100
SAMPLE = 300

# What the reader raises for a file that is missing, cut short or damaged.
_UNREADABLE = (OSError, ValueError, TypeError, maxminddb.InvalidDatabaseError)
# PostgreSQL refuses NUL; the other control characters only serve to forge lines.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")

log = logging.getLogger(__name__)


class Location(NamedTuple):
    country: str | None
    city: str | None


class Attribution(TypedDict):
    text: str
    url: str


class UnreadableFile(Exception):
    """Says why in one line."""


NOWHERE = Location(None, None)
_ATTRIBUTIONS = {
    "dbip": Attribution(text="IP Geolocation by DB-IP", url="https://db-ip.com"),
    "geolite": Attribution(
        text="This product includes GeoLite Data created by MaxMind, available from https://www.maxmind.com",
        url="https://www.maxmind.com",
    ),
}


class Content(NamedTuple):
    """A version of a file that has been opened and read well."""

    reader: maxminddb.Reader
    has_cities: bool
    attribution: Attribution | None

    def locate(self, address: str) -> Location:
        try:
            return _location(self.reader.get(address))
        except _UNREADABLE:
            # An IPv6 address in a file of IPv4 addresses; a damaged record.
            return NOWHERE


def read(path: Path) -> Content:
    """Opens a file that reads well, as far as a sample can tell."""
    try:
        if path.exists() and not path.is_file():
            raise UnreadableFile("It is not a file.")
        reader = maxminddb.open_database(path)
        metadata = reader.metadata()
        has_cities = "city" in str(metadata.database_type).lower()
        for record in _sample(reader, metadata.ip_version):
            has_cities = has_cities or _location(record).city is not None
    except _UNREADABLE as error:
        raise UnreadableFile(" ".join(str(error).split())) from None
    # Files that others have converted name their source in one of these places.
    origin = re.sub("[^a-z]", "", f"{metadata.database_type} {metadata.description} {path.name}".lower())
    found = next((shown for name, shown in _ATTRIBUTIONS.items() if name in origin), None)
    return Content(reader, has_cities, found)


class CityFile:
    """Keeps the newest readable version of a file. A missing file that is optional is nothing to warn of."""

    def __init__(self, path: Path, *, optional: bool) -> None:
        self.content: Content | None = None
        self._path = path
        self._optional = optional
        self._version: tuple[int, ...] | None = ()
        self._warned = False

    def refresh(self) -> None:
        try:
            status = self._path.stat()
            version = (status.st_mtime_ns, status.st_ino, status.st_size)
        except OSError:
            version = None
        if version == self._version:
            return
        self._version = version
        if version is None and self._optional and self.content is None:
            return
        try:
            # The old one is never closed: a thread may be reading from it, and the last reference frees it.
            self.content = read(self._path)
            self._warned = False
        except UnreadableFile as error:
            if not self._warned:
                meanwhile = "its previous version stays in use" if self.content else "it is left out"
                log.warning("Cities database %s cannot be read, %s: %s", self._path, meanwhile, error)
            self._warned = True


def known_country(code: object) -> str | None:
    """Registries and databases also say "EU" or "ZZ" when they do not know the country."""
    return code if isinstance(code, str) and code in COUNTRY_CODES else None


def _location(record: object) -> Location:
    if not isinstance(record, dict):
        return NOWHERE
    country, city = record.get("country"), record.get("city")
    code = country.get("iso_code") if isinstance(country, dict) else record.get("country_code", country)
    if isinstance(city, dict):
        names = city.get("names")
        city = names.get("en") if isinstance(names, dict) else None
    if isinstance(city, str):
        city = _CONTROLS.sub("", city).strip()[:CITY_CHARACTERS].rstrip()
    return Location(known_country(code), city if isinstance(city, str) and city else None)


def _sample(reader: maxminddb.Reader, ip_version: int) -> Iterator[object]:
    """The records of the first networks. By look-ups: iterating a damaged file can crash the C reader."""
    width, address = (128, 0) if ip_version == 6 else (32, 0)
    for _ in range(SAMPLE):
        ip = IPv6Address(address) if ip_version == 6 else IPv4Address(address)
        record, prefix = reader.get_with_prefix_len(ip)
        yield record
        network = 1 << (width - prefix)
        address = (address // network + 1) * network
        if address >> width:
            return
