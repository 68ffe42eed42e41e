"""What gunicorn's main process does in each iteration besides its own work."""

from __future__ import annotations

import time
from typing import Any

from common.host import vitals

# gunicorn's main process looks at its workers about once a second.
STANDSTILL_SECONDS = 5.0


class WorkerTimeouts:
    """Replaces gunicorn's search for silent workers, for which it has no hook, and shows that this process runs.

    After a standstill, of the whole host or of this process, workers get as much time as after their start: gunicorn
    would kill those that had not run yet.
    """

    def __init__(self, arbiter: Any) -> None:
        self._arbiter = arbiter
        self._murder_workers = arbiter.murder_workers
        self._ran_at = time.monotonic()
        self._spared_until = 0.0

    def __call__(self) -> None:
        vitals.beat()
        now = time.monotonic()
        if now - self._ran_at > STANDSTILL_SECONDS:
            self._spared_until = now + self._arbiter.timeout
        self._ran_at = now
        if now >= self._spared_until:
            self._murder_workers()
