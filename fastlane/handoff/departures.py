"""Connections queued for handoff to an API worker or, in a process with both roles, for a local thread."""

from __future__ import annotations

import selectors
from collections.abc import Callable
from typing import Any

from django.conf import settings

from fastlane.handoff.between_processes import Handoff, HandoffQueue
from fastlane.handoff.fair_queue import FairQueue
from fastlane.sockets.open_connections import MAX_BUFFERED
from fastlane.sockets.outgoing import refuse


class PendingHandoffs:
    """Dispatches the requests: to ``queue``, or without one with ``submit`` in this process, if ``has_idle_thread``.

    Calls ``on_released`` for each connection that leaves the process.
    """

    def __init__(
        self,
        poller: selectors.BaseSelector,
        queue: HandoffQueue | None,
        *,
        has_idle_thread: Callable[[], bool],
        submit: Callable[[Handoff], None],
        on_released: Callable[[Handoff], None],
    ) -> None:
        self._poller = poller
        self._queue = queue
        self._has_idle_thread = has_idle_thread
        self._submit = submit
        self._on_released = on_released
        self._waiting = FairQueue()
        # The queue whose writability wakes the poller.
        self._watched: HandoffQueue | None = None

    def add(self, handoff: Handoff) -> None:
        # Nobody else waits, so it does not matter whose turn it is.
        if not self._waiting and self._try_dispatch(handoff):
            return
        self._waiting.add(handoff)
        while self._waiting.held > MAX_BUFFERED:
            self.refuse(self._waiting.pop_from_largest())
        self.send()

    def send(self, _: Any = None) -> None:
        """Hand off as many connections as the handoff queue or the threads accept."""
        while self._waiting and self._try_dispatch(self._waiting.first()):
            self._waiting.pop()
        self._watch(self._queue if self._waiting else None)

    def expire(self) -> None:
        """Reply 503 to requests that exceed the queue timeout."""
        for handoff in self._waiting.expired(settings.API_QUEUE_SECONDS):
            self.refuse(handoff)
        self.send()

    def end(self) -> None:
        """Stop the handoff: from now on, process requests locally."""
        self._queue = None
        self.send()

    def _try_dispatch(self, handoff: Handoff) -> bool:
        if self._queue is not None:
            try:
                self._queue.put(handoff)
            except BlockingIOError:
                return False
            except OSError:  # the kernel limits the descriptors in flight
                self._submit(handoff)
            else:
                self._on_released(handoff)
            return True
        if self._has_idle_thread():
            self._submit(handoff)
            return True
        return False

    def _watch(self, queue: HandoffQueue | None) -> None:
        if queue is self._watched:
            return
        if self._watched is not None:
            self._poller.unregister(self._watched.write_end)
        if queue is not None:
            self._poller.register(queue.write_end, selectors.EVENT_WRITE, self.send)
        self._watched = queue

    def drop(self, handoff: Handoff) -> None:
        """Close the connection of a client that has disconnected."""
        handoff.sock.close()
        self._on_released(handoff)

    def refuse(self, handoff: Handoff) -> None:
        """Reply 503."""
        refuse(handoff.sock)
        self._on_released(handoff)
