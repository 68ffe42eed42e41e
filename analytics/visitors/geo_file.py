"""A city database in MaxMind's format: look-ups, and its replacement by a newer version.

The reader supports the published layouts: nested ({"country": {"iso_code": ...}, "city": {"names": {"en": ...}}}) and
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

# The reader's exceptions for a missing, truncated or damaged file.
_UNREADABLE = (OSError, ValueError, TypeError, maxminddb.InvalidDatabaseError)
# PostgreSQL refuses NUL; the other control characters would allow forged log lines.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")

log = logging.getLogger(__name__)


class Location(NamedTuple):
    country: str | None
    city: str | None


class Attribution(TypedDict):
    text: str
    url: str


class UnreadableFile(Exception):
    """The message is a one-line reason."""


UNKNOWN_LOCATION = Location(None, None)
_ATTRIBUTIONS = {
    "dbip": Attribution(text="IP Geolocation by DB-IP", url="https://db-ip.com"),
    "geolite": Attribution(
        text="This product includes GeoLite Data created by MaxMind, available from https://www.maxmind.com",
        url="https://www.maxmind.com",
    ),
}


class Content(NamedTuple):
    """One readable version of a file."""

    reader: maxminddb.Reader
    has_cities: bool
    attribution: Attribution | None

    def locate(self, address: str) -> Location:
        try:
            return _location(self.reader.get(address))
        except _UNREADABLE:
            # For example an IPv6 address in an IPv4-only file, or a damaged record.
            return UNKNOWN_LOCATION


def read(path: Path) -> Content:
    """Open a file and check a sample of its records. Raises UnreadableFile."""
    try:
        if path.exists() and not path.is_file():
            raise UnreadableFile("not a regular file")
        reader = maxminddb.open_database(path)
        metadata = reader.metadata()
        has_cities = "city" in str(metadata.database_type).lower()
        for record in _sample(reader, metadata.ip_version):
            has_cities = has_cities or _location(record).city is not None
    except _UNREADABLE as error:
        raise UnreadableFile(" ".join(str(error).split())) from None
    # Converted files name their source in one of these fields.
    origin = re.sub("[^a-z]", "", f"{metadata.database_type} {metadata.description} {path.name}".lower())
    attribution = next((text for name, text in _ATTRIBUTIONS.items() if name in origin), None)
    return Content(reader, has_cities, attribution)


class CityFile:
    """Keeps the newest readable version of a file. A missing optional file causes no warning."""

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
            # Do not close the old version: another thread may be reading it. The last reference frees it.
            self.content = read(self._path)
            self._warned = False
        except UnreadableFile as error:
            if not self._warned:
                consequence = "its previous version stays in use" if self.content else "it is not used"
                log.warning("City database %s cannot be read, %s: %s", self._path, consequence, error)
            self._warned = True


def known_country(code: object) -> str | None:
    """None for codes such as "EU" and "ZZ", which registries and databases use for an unknown country."""
    return code if isinstance(code, str) and code in COUNTRY_CODES else None


def _location(record: object) -> Location:
    if not isinstance(record, dict):
        return UNKNOWN_LOCATION
    country, city = record.get("country"), record.get("city")
    code = country.get("iso_code") if isinstance(country, dict) else record.get("country_code", country)
    if isinstance(city, dict):
        names = city.get("names")
        city = names.get("en") if isinstance(names, dict) else None
    if isinstance(city, str):
        city = _CONTROLS.sub("", city).strip()[:CITY_CHARACTERS].rstrip()
    return Location(known_country(code), city if isinstance(city, str) and city else None)


def _sample(reader: maxminddb.Reader, ip_version: int) -> Iterator[object]:
    """The records of the first networks, by look-ups: iterating a damaged file can crash the C reader."""
    width, address = (128, 0) if ip_version == 6 else (32, 0)
    for _ in range(SAMPLE):
        ip = IPv6Address(address) if ip_version == 6 else IPv4Address(address)
        record, prefix = reader.get_with_prefix_len(ip)
        yield record
        network = 1 << (width - prefix)
        address = (address // network + 1) * network
        if address >> width:
            return
