"""Where an address is: its country always, its city when the operator has given a database of cities.

The country comes with the installed packages (registries' delegation data, no file to fetch). Files in
MaxMind's format know cities, and since they locate the user rather than the registered holder, their country
comes first. Both published layouts are read: nested ({"country": {"iso_code": ...}, "city": {"names": ...}})
and flat ({"country_code": ..., "city": ...}); IPv4 and IPv6 may lie in separate files.
"""

import logging
from collections.abc import Sequence
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import NamedTuple

import iptocc
import maxminddb
from django.conf import settings

from common.countries import COUNTRY_CODES

CHECK_SECONDS = 1.0

log = logging.getLogger(__name__)


class Location(NamedTuple):
    country: str | None
    city: str | None


NOWHERE = Location(None, None)


class GeoDatabase:
    """Looks addresses up, and takes a new version of a file into use within a second or so.

    A file must be replaced by renaming over it, as `geoipupdate` does: the old version is mapped into memory
    and stays readable until the new one is in use. What cannot be read is logged once and left out (a
    replacement that cannot be read leaves the previous version in use), so that no look-up ever fails.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files = [_CityFile(path) for path in paths]
        self._lock = Lock()
        self._next_check = 0.0

    def locate(self, address: str) -> Location:
        try:
            ip = ip_address(address)
        except ValueError:
            return NOWHERE
        if not ip.is_global:
            return NOWHERE
        country = city = None
        self._refresh()
        for file in self._files:
            found = file.locate(address)
            country, city = country or found.country, city or found.city
        return Location(country or _known(iptocc.country_code(address)), city)

    def country_of(self, address: str) -> str | None:
        return self.locate(address).country

    def _refresh(self) -> None:
        # Whoever comes while another thread looks at the files goes on with what there is.
        if not self._files or monotonic() < self._next_check or not self._lock.acquire(blocking=False):
            return
        try:
            for file in self._files:
                file.refresh()
            self._next_check = monotonic() + CHECK_SECONDS
        finally:
            self._lock.release()


class _CityFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader: maxminddb.Reader | None = None
        self._version: object = ()

    def refresh(self) -> None:
        try:
            status = self._path.stat()
            version: object = (status.st_mtime_ns, status.st_ino, status.st_size)
        except OSError:
            version = None
        if version == self._version:
            return
        self._version = version
        try:
            # Never closed: a thread may be reading from the old one, and the last reference frees it.
            self._reader = maxminddb.open_database(self._path)
        except (OSError, ValueError, maxminddb.InvalidDatabaseError) as error:
            log.warning("Cities database %s cannot be read: %s", self._path, error)

    def locate(self, address: str) -> Location:
        reader = self._reader
        if reader is None:
            return NOWHERE
        try:
            record = reader.get(address)
        except (ValueError, maxminddb.InvalidDatabaseError):
            # An IPv6 address in a file of IPv4 addresses; a damaged record.
            return NOWHERE
        if not isinstance(record, dict):
            return NOWHERE
        country, city = record.get("country"), record.get("city")
        code = country.get("iso_code") if isinstance(country, dict) else record.get("country_code")
        if isinstance(city, dict):
            names = city.get("names")
            city = names.get("en") if isinstance(names, dict) else None
        return Location(_known(code), city if isinstance(city, str) and city else None)


def _known(code: object) -> str | None:
    """Registries and databases also say "EU" or "ZZ" when they do not know the country."""
    return code if isinstance(code, str) and code in COUNTRY_CODES else None


@cache
def geo() -> GeoDatabase:
    return GeoDatabase(settings.GEOIP_DATABASE)
