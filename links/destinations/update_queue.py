"""The queue between the threads that read links and the one that writes them to the host's cache of known links."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from typing import NamedTuple

from links.destinations.sealed_links import Entry

_BATCH = 1_000
_QUEUE_SIZE = 20_000


class Update(NamedTuple):
    """``entry`` is None to delete it."""

    name: bytes
    entry: Entry | None


class UpdateQueue:
    """Bounded by the number of updates. One item has those of one call of `put`."""

    def __init__(self) -> None:
        self._items: queue.Queue[list[Update] | None] = queue.Queue()
        self._size, self._lock = 0, threading.Lock()

    def put(self, updates: list[Update]) -> None:
        """Add the updates, or drop them if the writer cannot keep up."""
        with self._lock:
            if self._size + len(updates) > _QUEUE_SIZE:
                return
            self._size += len(updates)
        self._items.put(updates)

    def end(self) -> None:
        self._items.put(None)

    def take(self) -> tuple[list[Update], int, bool]:
        """Wait for a batch. Return it, the number of its items, and whether it is the last one."""
        updates: list[Update] = []
        items, is_last = 0, False
        with suppress(queue.Empty):
            while len(updates) < _BATCH and not is_last:
                item = self._items.get(block=not items)
                items, is_last = items + 1, item is None
                updates += item or ()
        with self._lock:
            self._size -= len(updates)
        return updates, items, is_last

    def mark_written(self, items: int) -> None:
        for _ in range(items):
            self._items.task_done()

    def wait_until_written(self) -> None:
        self._items.join()
