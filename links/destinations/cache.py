"""Per-process in-memory cache of lookups by (host, code). Version counters invalidate its entries."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from math import inf
from typing import Generic, NamedTuple, TypeVar

from common.bounded_cache import BoundedCache
from common.host.cache_versions import Version, Versions, expire_caches_after_silence, versions_of
from common.host.metrics import count_lookups
from common.host.state import UNHEARD_SECONDS, is_hearing

Result = TypeVar("Result")
Key = tuple[str, str]

# Other hosts receive no notification of a new code, so an unknown code is looked up again this soon.
UNKNOWN_SECONDS = 0.05
# Size of an entry without its texts, measured with 100,000 entries.
_ENTRY_BYTES = 900


class Entry(NamedTuple, Generic[Result]):
    """``expires_at`` is in seconds of the monotonic clock."""

    result: Result
    version: Version
    size: int
    expires_at: float


class DestinationCache(Generic[Result]):
    """Bounded by entries and bytes; shared by all threads of one process."""

    def __init__(self, entries: int, size: int, cost: Callable[[Result], int | None]) -> None:
        """``cost`` returns the text size of a result in bytes: 0 for an unknown code, None to skip the cache."""
        self._entries = BoundedCache[Key, Entry[Result]](entries, size, lambda _, entry: entry.size)
        self._cost = cost
        self._loading: dict[tuple[Key, Versions], Future[Result]] = {}
        self._lock = threading.Lock()

    def find(self, key: Key, load: Callable[[], Result]) -> Result:
        """Return the cached result, or the result of ``load``. Raises the exceptions of ``load``.

        Concurrent lookups of one key share one call of ``load``.
        """
        expire_caches_after_silence()
        if (entry := self._cached(key)) is not None:
            count_lookups(hits=1)
            return entry.result
        count_lookups(misses=1)
        versions = versions_of(*key)
        # Without change notifications, an entry can become stale unnoticed.
        lasts = inf if is_hearing() else UNHEARD_SECONDS
        with self._lock:
            # A read that began before a change may return old data: share it only between lookups of equal versions.
            loading = self._loading.get((key, versions))
            is_loader = loading is None
            if loading is None:
                if (entry := self._cached(key)) is not None:  # another thread has just loaded it
                    return entry.result
                loading = self._loading[key, versions] = Future()
        if not is_loader:
            return loading.result()
        try:
            result = load()
        except BaseException as error:
            loading.set_exception(error)
            raise
        else:
            size = self._cost(result)
            if size is not None:
                version, lasts = (versions.known, lasts) if size else (versions.unknown, UNKNOWN_SECONDS)
                entry = Entry(result, version, size + _ENTRY_BYTES, time.monotonic() + lasts)
                self._entries.put(key, entry)
            loading.set_result(result)
            return result
        finally:
            with self._lock:
                del self._loading[key, versions]

    def _cached(self, key: Key) -> Entry[Result] | None:
        """Look the key up in memory only."""
        entry = self._entries.get(key)
        is_valid = entry is not None and entry.version.is_current and entry.expires_at > time.monotonic()
        return entry if is_valid else None

    def clear(self) -> None:
        self._entries.clear()
