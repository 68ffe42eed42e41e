"""Receives connections in an API worker: only as many as it can process, as another worker may be idle.

Any worker takes those out of the queue that have waited for too long, even if no API worker runs.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings

from fastlane.handoff.channel import Handoff, HandoffQueue
from fastlane.sockets.acceptor import OUT_OF_DESCRIPTORS
from fastlane.sockets.responses.busy import refuse

# A stopping worker drains the handoff queue for this long.
_DRAIN_SECONDS = 0.5


class HandoffReceiver:
    """Calls ``on_received`` with each connection while ``has_capacity``, and ``on_out_of_descriptors`` if the process
    has no descriptor for the next one. The worker must not exit before `stop_if_due` returns True.
    """

    def __init__(
        self,
        poller: selectors.BaseSelector,
        queue: HandoffQueue,
        *,
        has_capacity: Callable[[], bool],
        on_received: Callable[[Handoff], None],
        on_out_of_descriptors: Callable[[], object],
    ) -> None:
        self._poller = poller
        self._queue = queue
        self._has_capacity = has_capacity
        self._on_received = on_received
        self._on_out_of_descriptors = on_out_of_descriptors
        self._is_polling = False
        # Monotonic seconds. None: not started, or stopped.
        self._deadline: float | None = None

    def start(self) -> None:
        self._deadline = float("inf")
        self.update_polling()

    def schedule_stop(self) -> None:
        self._deadline = time.monotonic() + _DRAIN_SECONDS

    def stop_if_due(self) -> bool:
        """Return True once, when the drain period is over."""
        if self._deadline is None or time.monotonic() < self._deadline:
            return False
        self._deadline = None
        self.update_polling()
        return True

    def update_polling(self) -> None:
        should_poll = self._deadline is not None and self._has_capacity()
        if should_poll and not self._is_polling:
            self._poller.register(self._queue.read_end, selectors.EVENT_READ, self._receive)
        elif self._is_polling and not should_poll:
            self._poller.unregister(self._queue.read_end)
        self._is_polling = should_poll

    def expire(self) -> None:
        """Reply 503 to requests that exceed the queue timeout, also while no thread is idle."""
        while not self._is_polling and self._is_next_overdue() and (handoff := self._take()):
            # Another worker may have been faster, so that this is a later one.
            if _is_overdue(handoff.incoming.since):
                refuse(handoff.sock)
            else:
                self._on_received(handoff)

    def _is_next_overdue(self) -> bool:
        since = self._queue.waiting_since()
        return since is not None and _is_overdue(since)

    def _receive(self, _: Any) -> None:
        while self._has_capacity() and (handoff := self._take()):
            self._on_received(handoff)
        self.update_polling()

    def _take(self) -> Handoff | None:
        try:
            return self._queue.take()
        except OSError as error:
            if error.errno not in OUT_OF_DESCRIPTORS:
                raise
            self._on_out_of_descriptors()
            return None


def _is_overdue(since: float) -> bool:
    return time.monotonic() - since > settings.API_QUEUE_SECONDS
