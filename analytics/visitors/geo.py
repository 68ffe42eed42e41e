"""The location of an IP address: the country without any file, city and region if a city database is configured.

The country comes from an installed package (registries' delegation data). Files in MaxMind's format add cities. They
locate the user rather than the registered holder, so their country takes precedence. IPv4 and IPv6, or countries and
cities, may be in separate files. Two published layouts are supported: nested ({"country": {"iso_code": ...}, "city":
{"names": {"en": ...}}, "subdivisions": [{"names": {"en": ...}}, ...]}) and flat ({"country_code": ..., "city": ...,
"state1": ...}, or {"country": ..., "city": ..., "region": ...}). A region is the largest subdivision of the country,
by its name, because the free databases have no codes of ISO 3166-2.
"""

import logging
import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import NamedTuple, TypedDict

import iptocc
import maxminddb
from django.conf import settings

from common.countries import COUNTRY_CODES
from common.http.client_address import ip_number, is_global

NAME_CHARACTERS = 100
SAMPLE = 300

# The reader's exceptions for a missing, truncated or damaged file. SystemError is its bug with some damaged texts.
_UNREADABLE = (OSError, ValueError, TypeError, SystemError, maxminddb.InvalidDatabaseError)
# PostgreSQL refuses NUL; the other control characters would allow forged log lines.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")

log = logging.getLogger(__name__)


class Location(NamedTuple):
    country: str | None
    city: str | None
    region: str | None = None


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
    parts = record.get("subdivisions")
    region = parts[0] if isinstance(parts, list) and parts else record.get("region", record.get("state1"))
    return Location(known_country(code), _name(city), _name(region))


def _name(value: object) -> str | None:
    """The English name; None if it is unknown. ``value``: a name, or an object with names by language."""
    if isinstance(value, dict):
        names = value.get("names")
        value = names.get("en") if isinstance(names, dict) else None
    if not isinstance(value, str):
        return None
    return _CONTROLS.sub("", value).strip()[:NAME_CHARACTERS].rstrip() or None


@cache
def _in_country(country: str | None) -> Location:
    """A location that is only a country, made once for each: the drainer looks every new address up."""
    return Location(country, None)


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


__all__ = ["Attribution", "GeoDatabase", "Location", "attribution", "geo"]

CHECK_SECONDS = 1.0
# A lookup takes several times as long as the rest of a redirect by country.
_REMEMBERED = 16_384


class GeoDatabase:
    """Looks up addresses, and loads a new version of a file within about CHECK_SECONDS.

    Replace a file by renaming over it, as `update_geodata` and `geoipupdate` do: the old version is mapped into memory
    and stays readable until the new one is loaded. Look-ups never fail: an unreadable file is logged once and skipped,
    and if a replacement is unreadable, the previous version stays in use.
    """

    def __init__(self, paths: Sequence[Path], *, optional: bool = False) -> None:
        self._files = [CityFile(path, optional=optional) for path in paths]
        self._lock = Lock()
        self._next_check = 0.0
        # Countries by address, replaced when a file changes.
        self._countries: dict[str, str | None] = {}
        self._refresh()

    def locate(self, address: str) -> Location:
        self._refresh()
        return self._locate(address)

    def _locate(self, address: str) -> Location:
        ip = ip_number(address)
        if ip is None or not is_global(*ip):
            return UNKNOWN_LOCATION
        country = city = region = None
        for file in self._files:
            if (content := file.content) is not None:
                location = content.locate(address)
                country, city = country or location.country, city or location.city
                region = region or location.region
        country = country or known_country(iptocc.country_code(address))
        return Location(country, city, region) if city or region else _in_country(country)

    def country_of(self, address: str) -> str | None:
        self._refresh()
        countries = self._countries
        if address not in countries:
            if len(countries) >= _REMEMBERED:
                countries = self._countries = {}
            # If a file changes meanwhile, this dictionary is no longer in use.
            countries[address] = self._locate(address).country
        return countries[address]

    def attribution(self) -> Attribution | None:
        self._refresh()
        contents = [content for file in self._files if (content := file.content) is not None]
        contents.sort(key=lambda content: not content.has_cities)
        return next((content.attribution for content in contents if content.attribution), None)

    def _refresh(self) -> None:
        # While another thread checks the files, continue with the loaded versions.
        if not self._files or monotonic() < self._next_check or not self._lock.acquire(blocking=False):
            return
        try:
            contents = [file.content for file in self._files]
            for file in self._files:
                file.refresh()
            if any(file.content is not content for file, content in zip(self._files, contents, strict=True)):
                self._countries = {}
            self._next_check = monotonic() + CHECK_SECONDS
        finally:
            self._lock.release()


@cache
def geo() -> GeoDatabase:
    if settings.GEOIP_DATABASE:
        return GeoDatabase(settings.GEOIP_DATABASE)
    return GeoDatabase([settings.GEODATA_FILE], optional=True)


# If another thread held the lock during the fork, it would stay locked in the child.
os.register_at_fork(after_in_child=geo.cache_clear)


def attribution() -> Attribution | None:
    """The attribution that the licence of the loaded file requires wherever cities are shown."""
    return geo().attribution()
