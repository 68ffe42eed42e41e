"""A circuit breaker per process: without it, every request would wait for an unresponsive database."""

from __future__ import annotations

import threading
import time

# A refused connection costs almost nothing, and the server may accept the next one. An unresponsive server blocks a
# thread for the whole timeout.
SLOW_SECONDS = 1.0
# After a slow failure, no thread connects for this long.
RETRY_SECONDS = 0.5
# While one thread tries, the others do not, for at most this long.
TRIAL_SECONDS = 5.0


class Circuit:
    """Shared by all threads of one process."""

    def __init__(self) -> None:
        self._open_until: float | None = None
        self._lock = threading.Lock()

    def allows_attempt(self) -> bool:
        """Whether the caller may try to connect. It must then call ``succeeded`` or ``failed``."""
        with self._lock:
            now = time.monotonic()
            if self._open_until is None:
                return True
            if now < self._open_until:
                return False
            self._open_until = now + TRIAL_SECONDS
            return True

    def succeeded(self) -> None:
        with self._lock:
            self._open_until = None

    def failed(self, seconds: float) -> None:
        """Report a failed attempt and its duration."""
        with self._lock:
            self._open_until = time.monotonic() + RETRY_SECONDS if seconds >= SLOW_SECONDS else None
