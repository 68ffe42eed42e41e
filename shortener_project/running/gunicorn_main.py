"""Signs of life of gunicorn's main process, and the time that it gives its workers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from common.host import vitals

# gunicorn's main process looks at its workers about once a second.
STANDSTILL_SECONDS = 5.0


def watch(arbiter: Any) -> None:
    """Let gunicorn show that it runs, and spare its workers after a standstill.

    It has no hooks for that. It looks for silent workers in each iteration, and for ended ones also while it waits for
    the workers that a reload replaces.
    """
    timeouts = _WorkerTimeouts(arbiter)
    arbiter.murder_workers = timeouts.murder_workers
    arbiter.reap_workers = timeouts.reap_workers


class _WorkerTimeouts:
    """After a standstill of the host or of this process, workers get as much time as after their start: gunicorn would
    kill those that had not run yet.
    """

    def __init__(self, arbiter: Any) -> None:
        self._arbiter = arbiter
        self._murder: Callable[[], object] = arbiter.murder_workers
        self._reap: Callable[[], object] = arbiter.reap_workers
        self._ran_at = time.monotonic()
        self._spared_until = 0.0

    def murder_workers(self) -> None:
        if self._note_iteration() >= self._spared_until:
            self._murder()

    def reap_workers(self) -> None:
        self._note_iteration()
        self._reap()

    def _note_iteration(self) -> float:
        vitals.beat()
        now = time.monotonic()
        if now - self._ran_at > STANDSTILL_SECONDS:
            self._spared_until = now + self._arbiter.timeout
        self._ran_at = now
        return now
