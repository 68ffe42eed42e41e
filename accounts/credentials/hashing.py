"""Admission control for password hashing. A hash takes tens of milliseconds and occupies its thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from accounts.capacity.concurrency import TooManyAtOnce

# A worker has four threads. One stays free for requests without a password.
MAX_CALLERS = 3
MAX_PER_CALLER = 2


class Admission:
    """Admits ``max_callers`` concurrently in this process, and ``max_per_caller`` per account or network."""

    def __init__(self, max_callers: int, max_per_caller: int) -> None:
        self._max_callers = max_callers
        self._max_per_caller = max_per_caller
        self._inside: Counter[str] = Counter()
        self._lock = Lock()

    @contextmanager
    def admit(self, caller: str) -> Iterator[None]:
        """Raises TooManyAtOnce without waiting."""
        with self._lock:
            if self._inside.total() >= self._max_callers:
                raise TooManyAtOnce(self._max_callers)
            if self._inside[caller] >= self._max_per_caller:
                raise TooManyAtOnce(self._max_per_caller)
            self._inside[caller] += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside[caller] -= 1
                if not self._inside[caller]:
                    del self._inside[caller]


hashing = Admission(MAX_CALLERS, MAX_PER_CALLER)
