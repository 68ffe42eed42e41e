"""Where an address is: its country always, its city when there is a database of cities.

The country comes with the installed packages (registries' delegation data, no file to fetch). Files in
MaxMind's format know cities, and since they locate the user rather than the registered holder, their country
comes first. IPv4 and IPv6, or countries and cities, may lie in separate files.
"""

import os
from collections.abc import Sequence
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from time import monotonic

import iptocc
from django.conf import settings

from analytics.geo_file import NOWHERE, Attribution, CityFile, Location, known_country

__all__ = ["Attribution", "GeoDatabase", "Location", "attribution", "geo"]

CHECK_SECONDS = 1.0


class GeoDatabase:
    """Looks addresses up, and takes a new version of a file into use within a second or so.

    A file must be replaced by renaming over it, as `update_geodata` and `geoipupdate` do: the old version is
    mapped into memory and stays readable until the new one is in use. What cannot be read is logged once and
    left out (a replacement that cannot be read leaves the previous version in use), so that no look-up ever fails.
    """

    def __init__(self, paths: Sequence[Path], *, optional: bool = False) -> None:
        self._files = [CityFile(path, optional=optional) for path in paths]
        self._lock = Lock()
        self._next_check = 0.0
        self._refresh()

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
            if (content := file.content) is not None:
                found = content.locate(address)
                country, city = country or found.country, city or found.city
        return Location(country or known_country(iptocc.country_code(address)), city)

    def country_of(self, address: str) -> str | None:
        return self.locate(address).country

    def attribution(self) -> Attribution | None:
        self._refresh()
        contents = [content for file in self._files if (content := file.content) is not None]
        contents.sort(key=lambda content: not content.has_cities)
        return next((content.attribution for content in contents if content.attribution), None)

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


@cache
def geo() -> GeoDatabase:
    if settings.GEOIP_DATABASE:
        return GeoDatabase(settings.GEOIP_DATABASE)
    return GeoDatabase([settings.GEODATA_FILE], optional=True)


# A lock that another thread of the parent held would stay locked in the child for ever.
os.register_at_fork(after_in_child=geo.cache_clear)


def attribution() -> Attribution | None:
    """What the licence of the file in use wants shown wherever cities are shown."""
    return geo().attribution()
