"""The location of an IP address: the country without any file, the city if a city database is configured.

The country comes from an installed package (registries' delegation data). Files in MaxMind's format add cities. They
locate the user rather than the registered holder, so their country takes precedence. IPv4 and IPv6, or countries and
cities, may be in separate files.
"""

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from time import monotonic

import iptocc
from django.conf import settings

from analytics.visitors.geo_file import UNKNOWN_LOCATION, Attribution, CityFile, Location, known_country
from common.http.client_address import ip_number, is_global

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
        country = city = None
        for file in self._files:
            if (content := file.content) is not None:
                location = content.locate(address)
                country, city = country or location.country, city or location.city
        return Location(country or known_country(iptocc.country_code(address)), city)

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
