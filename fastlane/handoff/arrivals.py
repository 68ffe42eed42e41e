"""Receives connections in an API worker: only as many as it can process, as another worker may be idle."""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable
from typing import Any

from fastlane.handoff.channel import Handoff, handoff_queues
from fastlane.sockets.admission import OUT_OF_DESCRIPTORS

# A stopping worker drains the handoff queue for this long.
_DRAIN_SECONDS = 0.5


class HandoffReceiver:
    """Calls ``on_received`` with each connection while ``has_capacity``, and ``on_out_of_descriptors`` if the process
    has no descriptor for the next one. The worker must not exit before `stop_if_due` returns True.
    """

    def __init__(
        self,
        poller: selectors.BaseSelector,
        *,
        has_capacity: Callable[[], bool],
        on_received: Callable[[Handoff], None],
        on_out_of_descriptors: Callable[[], object],
    ) -> None:
        self._poller = poller
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
            self._poller.register(handoff_queues().to_api.read_end, selectors.EVENT_READ, self._receive)
        elif self._is_polling and not should_poll:
            self._poller.unregister(handoff_queues().to_api.read_end)
        self._is_polling = should_poll

    def _receive(self, _: Any) -> None:
        try:
            while self._has_capacity() and (handoff := handoff_queues().to_api.take()):
                self._on_received(handoff)
        except OSError as error:
            if error.errno not in OUT_OF_DESCRIPTORS:
                raise
            self._on_out_of_descriptors()
        self.update_polling()
