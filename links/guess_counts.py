"""Limits each network's requests for unknown codes (guesses), in memory that all web workers of a host share.

Networks that followed a link before still reach it while they are refused, so the host also remembers which links each
network has followed.

The memory is anonymous: created before gunicorn forks, never written to disk, freed with the web server. It contains
networks and links only as hashes under keys that exist nowhere else. Each host counts separately.

Each counter is a leaky bucket. It stores the time at which the bucket is empty; every guess moves that time forward. A
network uses three counters, and the lowest of them counts: other networks may share some of them, but rarely all
(a count-min sketch). The lock is that of a process: guesses of one network that two workers count at the same instant
may count as one.

Trades clarity for speed: the fast lane reads ``refusing`` on each redirect instead of calling a method, and does more
work only while some network is refused. bench/results.csv, "Redirects", has the resulting rate.
"""

from __future__ import annotations

import mmap
import os
import threading
from functools import cache, lru_cache
from hashlib import blake2b
from time import monotonic
from typing import NamedTuple

from django.conf import settings

from common.errors import TooManyAttempts
from common.http.client_address import client_network, site_network

# Links recorded per network.
LINKS = 32
_NETWORKS = 1 << 16
_HASH_BYTES = 8
# A row begins with the position of its next entry.
_ROW_BYTES = _HASH_BYTES * (1 + LINKS)


class FollowedLinks:
    """The links that each network has followed, shared by all threads and by all processes forked after creation.

    Each network has a row of hashes; the few networks whose rows coincide share one. Processes do not lock: if two of
    them record a link in one row at the same time, one link may be lost.
    """

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


WINDOW_SECONDS = 60
# A /48 contains 256 networks of /56, often with as many subscribers.
WIDER_FACTOR = 4
# The longest time that a network is refused after one call with many unknown codes.
_LONGEST_SECONDS = 600
_ROWS, _COUNTERS = 3, 1 << 18


class _Share(NamedTuple):
    """The counters of a network. Its limit is ``factor`` times the configured one."""

    counters: tuple[int, ...]
    factor: int


class Guesses:
    """The counters, shared by all threads and by all processes forked after creation."""

    def __init__(self) -> None:
        # The latest time until which any network is refused; 0: no network is refused.
        self.refusing = _timestamps(1)
        self.followed = FollowedLinks()
        self._until = _timestamps(_ROWS * _COUNTERS)
        self._key = os.urandom(16)
        self._lock = threading.Lock()
        self.shares = lru_cache(maxsize=4096)(self._shares)

    def spend(self, address: str, guesses: int = 1) -> None:
        """Counts guesses by the address's networks. At the limit, raises TooManyAttempts and counts nothing."""
        limit: int = settings.UNKNOWN_CODE_LIMIT
        if not limit or not guesses:
            return
        with self._lock:
            now = monotonic()
            wait = self._wait(address, now)
            if wait > 0:
                raise too_many_guesses(wait)
            for counters, factor in self.shares(address):
                seconds = WINDOW_SECONDS / (limit * factor)
                until = max(now, self._value(counters)) + guesses * seconds
                until = min(until, now + _LONGEST_SECONDS)
                for counter in counters:
                    self._until[counter] = max(until, self._until[counter])
                refused_until = until + seconds - WINDOW_SECONDS
                if refused_until > now:
                    self.refusing[0] = max(refused_until, self.refusing[0])

    def remaining(self, address: str) -> int:
        """How many more guesses the address's networks may make now. Requires a configured limit."""
        now, limit = monotonic(), settings.UNKNOWN_CODE_LIMIT
        return min(
            int(
                (WINDOW_SECONDS - max(0.0, self._value(counters) - now)) * limit * factor / WINDOW_SECONDS
                + 1e-6
            )
            for counters, factor in self.shares(address)
        )

    def refused_for(self, address: str) -> float:
        """Seconds for which the address's networks are still refused; 0: not refused."""
        if not self.refusing[0] or not settings.UNKNOWN_CODE_LIMIT:
            return 0.0
        now = monotonic()
        if self.refusing[0] <= now:
            self.refusing[0] = 0.0
            return 0.0
        return self._wait(address, now)

    def _wait(self, address: str, now: float) -> float:
        limit: int = settings.UNKNOWN_CODE_LIMIT
        return max(
            0.0,
            *(
                self._value(counters) + WINDOW_SECONDS / (limit * factor) - WINDOW_SECONDS - now - 1e-6
                for counters, factor in self.shares(address)
            ),
        )

    def _value(self, counters: tuple[int, ...]) -> float:
        return min(self._until[counter] for counter in counters)

    def _shares(self, address: str) -> tuple[_Share, ...]:
        network = client_network(address)
        networks = {site_network(address) or network: WIDER_FACTOR, network: 1}
        return tuple(_Share(self._counters(network), factor) for network, factor in networks.items())

    def _counters(self, network: str) -> tuple[int, ...]:
        digest = blake2b(network.encode(), digest_size=4 * _ROWS, key=self._key).digest()
        return tuple(
            row * _COUNTERS + int.from_bytes(digest[4 * row : 4 * row + 4]) % _COUNTERS
            for row in range(_ROWS)
        )


@cache
def guesses() -> Guesses:
    """The counters of this host. Call it once before gunicorn forks."""
    return Guesses()


def refuse_above_guess_limit(address: str) -> None:
    """Raises TooManyAttempts if the network has exceeded its limit."""
    if wait := guesses().refused_for(address):
        raise too_many_guesses(wait)


def too_many_guesses(wait: float) -> TooManyAttempts:
    return TooManyAttempts(int(wait) + 1, limit=settings.UNKNOWN_CODE_LIMIT, window=WINDOW_SECONDS)


def _timestamps(items: int) -> memoryview[float]:
    return memoryview(mmap.mmap(-1, items * 8)).cast("d")
