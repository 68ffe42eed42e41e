"""What (host, code) means, kept in memory by each process as long as its version slots say that it still holds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from math import inf
from typing import Generic, NamedTuple, TypeVar

from common.metrics import count_lookups
from common.versions import Version, Versions, versions_of

Found = TypeVar("Found")
Key = tuple[str, str]

# A new code is not announced to other hosts: what is unknown is asked again this soon.
UNKNOWN_SECONDS = 0.05
# Of an entry without its texts, measured with 100,000 of them.
_ENTRY_BYTES = 900


class Entry(NamedTuple, Generic[Found]):
    """``until`` in seconds of the monotonic clock."""

    found: Found
    version: Version
    size: int
    until: float


class DestinationCache(Generic[Found]):
    """Bounded by entries and by bytes, for all threads of one process.

    Two generations instead of a list in order of use, which would have to be rewritten with each click: what is asked
    for is moved to the young one, and when that holds half of what is allowed, the old one is forgotten.
    """

    def __init__(self, entries: int, size: int, cost: Callable[[Found], int | None]) -> None:
        """``cost`` gives the bytes of the texts of what was found: 0 when nothing was, None for what is not kept."""
        self._entries, self._size = entries // 2, size // 2
        self._cost = cost
        self._young: dict[Key, Entry[Found]] = {}
        self._old: dict[Key, Entry[Found]] = {}
        self._young_size = 0
        self._loading: dict[tuple[Key, Versions], Future[Found]] = {}
        # Reentrant: what is found young is moved there by whoever holds it.
        self._lock = threading.RLock()

    def find(self, key: Key, load: Callable[[], Found]) -> Found:
        """What is known, or what ``load`` finds in the database; raises what that raises.

        However many ask at once, one of them loads.
        """
        if (entry := self._known(key)) is not None:
            count_lookups(hits=1)
            return entry.found
        count_lookups(misses=1)
        versions = versions_of(*key)
        with self._lock:
            # Who waits for a read that began before a change would get what was before: so only for the same versions.
            loading = self._loading.get((key, versions))
            mine = loading is None
            if loading is None:
                if (entry := self._known(key)) is not None:  # somebody was quicker
                    return entry.found
                loading = self._loading[key, versions] = Future()
        if not mine:
            return loading.result()
        try:
            found = load()
        except BaseException as error:
            loading.set_exception(error)
            raise
        else:
            size = self._cost(found)
            if size is not None:
                version, until = (
                    (versions.known, inf) if size else (versions.unknown, time.monotonic() + UNKNOWN_SECONDS)
                )
                self._keep(key, Entry(found, version, size + _ENTRY_BYTES, until))
            loading.set_result(found)
            return found
        finally:
            with self._lock:
                del self._loading[key, versions]

    def _known(self, key: Key) -> Entry[Found] | None:
        """Asks nobody."""
        entry = self._young.get(key)
        if entry is None:
            entry = self._old.get(key)
            if entry is None:
                return None
            self._keep(key, entry)
        return entry if entry.version.holds and entry.until > time.monotonic() else None

    def clear(self) -> None:
        with self._lock:
            self._young, self._old, self._young_size = {}, {}, 0

    def _keep(self, key: Key, entry: Entry[Found]) -> None:
        with self._lock:
            former = self._young.get(key)
            self._young[key] = entry
            self._young_size += entry.size - (former.size if former else 0)
            if len(self._young) > self._entries or self._young_size > self._size:
                self._young, self._old, self._young_size = {}, self._young, 0
