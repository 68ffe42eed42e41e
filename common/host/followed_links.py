"""The links that each network has followed, in memory that all web workers of a host share.

The memory is anonymous: created before gunicorn forks, never written to disk, freed with the web server. It contains
networks and links only as hashes under a key that exists nowhere else. Each host has its own.

Each network has a row of hashes; the few networks whose rows coincide share one. Processes do not lock: if two of them
record a link in one row at the same time, one link may be lost.
"""

from __future__ import annotations

import mmap
from functools import lru_cache

from common.http.client_address import client_network

# Links recorded per network.
LINKS = 32
_NETWORKS = 1 << 16
_HASH_BYTES = 8
# A row begins with the position of its next entry.
_ROW_BYTES = _HASH_BYTES * (1 + LINKS)


class FollowedLinks:
    """Shared by all threads, and by all processes forked after creation."""

    def __init__(self) -> None:
        self._rows = mmap.mmap(-1, _NETWORKS * _ROW_BYTES)

    def remember(self, address: str, link: bytes) -> None:
        """Record that the address's network has followed a link. In a full row, it replaces the oldest entry."""
        row, entry = _row_and_entry(address, link)
        if not self._contains(row, entry):
            position = self._rows[row]
            self._rows[row] = (position + 1) % LINKS
            start = row + _HASH_BYTES * (1 + position)
            self._rows[start : start + _HASH_BYTES] = entry

    def has_followed(self, address: str, link: bytes) -> bool:
        return self._contains(*_row_and_entry(address, link))

    def _contains(self, row: int, entry: bytes) -> bool:
        return self._rows.find(entry, row + _HASH_BYTES, row + _ROW_BYTES) >= 0


_network = lru_cache(maxsize=8192)(client_network)


def _row_and_entry(address: str, link: bytes) -> tuple[int, bytes]:
    # Python keys its hashes of strings with a random value, which forked processes share.
    network = _network(address)
    entry = hash((network, link)).to_bytes(_HASH_BYTES, "little", signed=True)
    return hash(network) % _NETWORKS * _ROW_BYTES, entry
