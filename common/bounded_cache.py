"""An in-memory cache bounded by entries and bytes.

Trades clarity for speed: a hit costs one dictionary lookup, and the fast lane reads ``young`` directly instead of
calling a method. bench/results.csv, "Redirects", has the resulting rate.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """A thread-safe cache with two generations.

    An LRU list would have to be updated on each hit. Instead, a hit in the old generation moves the entry to
    the young one. When the young generation holds half of the limit, the old one is dropped.
    """

    def __init__(self, entries: int, size: int, size_of: Callable[[Key, Value], int]) -> None:
        """``size`` is the limit in bytes; ``size_of`` returns the bytes of one entry with its key."""
        self._entries, self._size = entries // 2, size // 2
        self._size_of = size_of
        # Public, so that the fast lane can read it without a method call.
        self.young: dict[Key, Value] = {}
        self._old: dict[Key, Value] = {}
        self._young_size = self._old_size = 0
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        value = self.young.get(key)
        return self.recall(key) if value is None else value

    def recall(self, key: Key) -> Value | None:
        """Look up an entry of the old generation and move it to the young one."""
        value = self._old.get(key)
        if value is not None:
            self.put(key, value)
        return value

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            previous = self.young.get(key)
            self.young[key] = value
            self._young_size += self._size_of(key, value)
            if previous is not None:
                self._young_size -= self._size_of(key, previous)
            if len(self.young) > self._entries or self._young_size > self._size:
                self._old_size = self._young_size
                self.young, self._old, self._young_size = {}, self.young, 0

    def preload(self, entries: Iterable[tuple[Key, Value]]) -> bool:
        """Add entries to the old generation, without replacing or evicting any. Return False once it is full."""
        with self._lock:
            for key, value in entries:
                if key in self.young or key in self._old:
                    continue
                size = self._size_of(key, value)
                if len(self._old) >= self._entries or self._old_size + size > self._size:
                    return False
                self._old[key] = value
                self._old_size += size
        return True

    def clear(self) -> None:
        with self._lock:
            self.young, self._old, self._young_size, self._old_size = {}, {}, 0, 0
