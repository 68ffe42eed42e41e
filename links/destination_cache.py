"""What (host, code) means, kept in memory by each process as long as its version slots say that it still holds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from math import inf
from typing import Generic, NamedTuple, TypeVar

from common.generations import Generations
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
    """Bounded by entries and by bytes, for all threads of one process."""

    def __init__(self, entries: int, size: int, cost: Callable[[Found], int | None]) -> None:
        """``cost`` gives the bytes of the texts of what was found: 0 when nothing was, None for what is not kept."""
        self._kept = Generations[Key, Entry[Found]](entries, size, lambda _, entry: entry.size)
        self._cost = cost
        self._loading: dict[tuple[Key, Versions], Future[Found]] = {}
        self._lock = threading.Lock()

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
                self._kept.put(key, Entry(found, version, size + _ENTRY_BYTES, until))
            loading.set_result(found)
            return found
        finally:
            with self._lock:
                del self._loading[key, versions]

    def _known(self, key: Key) -> Entry[Found] | None:
        """Asks nobody."""
        entry = self._kept.get(key)
        is_known = entry is not None and entry.version.holds and entry.until > time.monotonic()
        return entry if is_known else None

    def clear(self) -> None:
        self._kept.clear()
