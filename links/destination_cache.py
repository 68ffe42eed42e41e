"""What (host, code) means, kept in memory by each process as long as its version slots say that it still holds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from math import inf
from typing import Generic, NamedTuple, TypeVar

from common import versions
from common.metrics import count_lookups

Found = TypeVar("Found")
Key = tuple[str, str]

# A new code is not announced to other hosts: what is unknown is asked again this soon.
UNKNOWN_SECONDS = 0.05
# Of an entry without its texts, measured with 100,000 of them.
_ENTRY_BYTES = 900


class Stamp(NamedTuple):
    """The numbers in the slots of a code and its host when the database was about to be asked."""

    code: int
    host: int


class Entry(Generic[Found]):
    """``answer`` is whatever whoever follows links has prepared from what was found."""

    __slots__ = ("answer", "code_slot", "code_stamp", "found", "host_slot", "host_stamp", "size", "until")

    def __init__(self, found: Found, slots: tuple[int, int], stamp: Stamp, size: int, until: float) -> None:
        self.found = found
        self.answer: object = None
        self.code_slot, self.host_slot = slots
        self.code_stamp, self.host_stamp = stamp
        self.size = size
        self.until = until


class DestinationCache(Generic[Found]):
    """Bounded by entries and by bytes, for all threads of one process.

    Two generations instead of a list in order of use, which would have to be rewritten with each click: what is asked
    for is moved to the young one, and when that holds half of what is allowed, the old one is forgotten.
    """

    def __init__(self, entries: int, size: int, cost: Callable[[Found], int | None]) -> None:
        """``cost`` gives the bytes of the texts of what was found: 0 when nothing was, None for what is not kept."""
        self._entries, self._size = entries // 2, size // 2
        self._cost = cost
        self._slots = versions.slots()
        self._young: dict[Key, Entry[Found]] = {}
        self._old: dict[Key, Entry[Found]] = {}
        self._young_size = 0
        self._loading: dict[tuple[Key, Stamp], Future[Found]] = {}
        # Reentrant: what is found young is moved there by whoever holds it.
        self._lock = threading.RLock()

    def get(self, key: Key) -> Entry[Found] | None:
        """What is known by now and still holds. Asks nobody."""
        entry = self._young.get(key)
        if entry is None:
            entry = self._old.get(key)
            if entry is None:
                return None
            self._keep(key, entry)
        slots = self._slots
        if slots[entry.code_slot] != entry.code_stamp or slots[entry.host_slot] != entry.host_stamp:
            return None
        return entry

    def find(self, key: Key, load: Callable[[], Found]) -> Found:
        """What is known, or what ``load`` finds in the database; raises what that raises.

        However many ask at once, one of them loads.
        """
        if (entry := self._fresh(key)) is not None:
            count_lookups(hits=1)
            return entry.found
        count_lookups(misses=1)
        slots = versions.slot_of_code(key[1]), versions.slot_of_host(key[0])
        # Before the database is read: a change that is committed while it is read has another number.
        stamp = Stamp(self._slots[slots[0]], self._slots[slots[1]])
        with self._lock:
            # Who waits for a read that began before a change would get what was before: so only for the same stamp.
            loading = self._loading.get((key, stamp))
            mine = loading is None
            if loading is None:
                if (entry := self._fresh(key)) is not None:  # somebody was quicker
                    return entry.found
                loading = self._loading[key, stamp] = Future()
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
                until = inf if size else time.monotonic() + UNKNOWN_SECONDS
                self._keep(key, Entry(found, slots, stamp, size + _ENTRY_BYTES, until))
            loading.set_result(found)
            return found
        finally:
            with self._lock:
                del self._loading[key, stamp]

    def _fresh(self, key: Key) -> Entry[Found] | None:
        entry = self.get(key)
        return entry if entry is not None and entry.until > time.monotonic() else None

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
