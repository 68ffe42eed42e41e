"""Connection limits of a process: in total and per client address."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.conf import settings

from common.http.client_address import client_site, is_trusted
from fastlane.sockets.open_connections import OpenConnections

# Shares of the limit: capacity reserved for new connections, and idle connections closed per eviction.
_RESERVED = 1 / 20
_EVICTED = 1 / 200


class Admission:
    """``per_address`` 0: no limit per address."""

    def __init__(self, connections: OpenConnections, *, limit: int, per_address: int) -> None:
        self._connections = connections
        self._high_water_mark = limit - max(1, int(limit * _RESERVED))
        self._evicted = max(1, int(limit * _EVICTED))
        self._per_address = per_address
        self._counts: dict[str, int] = {}

    def try_admit(self, client: Any) -> bool:
        """Count a new connection unless its address is at the limit. Return whether it was admitted."""
        address = _address(client)
        site = _site(address)
        count = self._counts.get(site, 0)
        if self._per_address and count >= self._per_address and not _is_exempt(address):
            return False
        self._counts[site] = count + 1
        return True

    def remove(self, client: Any) -> None:
        site = _site(_address(client))
        count = self._counts.get(site, 0)
        if count > 1:
            self._counts[site] = count - 1
        else:
            self._counts.pop(site, None)

    def free_capacity(self, number: int) -> None:
        """Close the longest-idle connections if ``number`` open connections leave less than the reserve."""
        if number > self._high_water_mark:
            self.evict()

    def evict(self) -> int:
        """Close the longest-idle connections. Return how many were closed."""
        return self._connections.drop_longest_idle(self._evicted)


def _address(client: Any) -> str:
    """Return the client's address. Unix socket peers have none."""
    return client[0] if isinstance(client, tuple) else ""


_site = lru_cache(maxsize=8192)(client_site)


@lru_cache(maxsize=8192)
def _is_exempt(address: str) -> bool:
    return not address or is_trusted(address, settings.TRUSTED_PROXIES)
