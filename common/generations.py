"""What a process remembers, within limits of entries and bytes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Generations(Generic[Key, Value]):
    """For all threads of one process.

    Two generations instead of a list in order of use, which would have to be rewritten with each click: what is asked
    for is moved to the young one, and when that holds half of what is allowed, the old one is forgotten.
    """

    def __init__(self, entries: int, size: int, size_of: Callable[[Key, Value], int]) -> None:
        """``size`` in bytes of all, ``size_of`` those of one with its key."""
        self._entries, self._size = entries // 2, size // 2
        self._size_of = size_of
        # To be read by whoever has no time for a call.
        self.young: dict[Key, Value] = {}
        self._old: dict[Key, Value] = {}
        self._young_size = 0
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        value = self.young.get(key)
        return self.recall(key) if value is None else value

    def recall(self, key: Key) -> Value | None:
        """What is not among the young."""
        value = self._old.get(key)
        if value is not None:
            self.put(key, value)
        return value

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            former = self.young.get(key)
            self.young[key] = value
            self._young_size += self._size_of(key, value)
            if former is not None:
                self._young_size -= self._size_of(key, former)
            if len(self.young) > self._entries or self._young_size > self._size:
                self.young, self._old, self._young_size = {}, self.young, 0

    def clear(self) -> None:
        with self._lock:
            self.young, self._old, self._young_size = {}, {}, 0
