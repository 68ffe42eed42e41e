"""Requests waiting for a thread of this process or, in a redirect worker, for one of an API worker.

They wait in round-robin order of their clients: a flood delays only its own sender.
"""

from __future__ import annotations

import re
import selectors
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Any

from django.conf import settings

from common.http.client_address import client_address, client_network
from fastlane.handoff.between_processes import Handoff, HandoffQueue
from fastlane.sockets.connections import MAX_BUFFERED
from fastlane.sockets.outgoing import refuse

_FORWARDED_FOR = re.compile(rb"\r\nx-forwarded-for:([^\r]*)", re.IGNORECASE)


class _ClientQueue(deque[Handoff]):
    """One client's requests. ``held``: their bytes."""

    held = 0


class FairQueue:
    """Requests in round-robin order of their clients. ``held``: their bytes."""

    def __init__(self) -> None:
        # In round-robin order.
        self._queues: OrderedDict[str, _ClientQueue] = OrderedDict()
        self.held = 0

    def __bool__(self) -> bool:
        return bool(self._queues)

    def add(self, handoff: Handoff) -> None:
        queue = self._queues.setdefault(_client_of(handoff), _ClientQueue())
        queue.append(handoff)
        self._count(queue, handoff.incoming.size)

    def first(self) -> Handoff:
        """Return the next request. Raises StopIteration if the queue is empty."""
        return next(iter(self._queues.values()))[0]

    def pop(self) -> Handoff:
        """Remove and return the next request, and move its client to the end."""
        client, queue = next(iter(self._queues.items()))
        handoff = queue.popleft()
        self._count(queue, -handoff.incoming.size)
        if queue:
            self._queues.move_to_end(client)
        else:
            del self._queues[client]
        return handoff

    def pop_from_largest(self) -> Handoff:
        """Remove and return the newest request of the client with the most bytes."""
        client, queue = max(self._queues.items(), key=lambda item: item[1].held)
        handoff = queue.pop()
        self._count(queue, -handoff.incoming.size)
        if not queue:
            del self._queues[client]
        return handoff

    def expired(self, seconds: float) -> Iterator[Handoff]:
        """Remove and yield the requests that have been queued for longer than ``seconds``."""
        until = time.monotonic() - seconds
        for client, queue in list(self._queues.items()):
            while queue and queue[0].incoming.since < until:
                handoff = queue.popleft()
                self._count(queue, -handoff.incoming.size)
                yield handoff
            if not queue:
                del self._queues[client]

    def _count(self, queue: _ClientQueue, size: int) -> None:
        queue.held += size
        self.held += size


def _client_of(handoff: Handoff) -> str:
    peer = handoff.client[0] if isinstance(handoff.client, tuple) else ""
    forwarded = b",".join(_FORWARDED_FOR.findall(handoff.incoming.data)).decode("latin-1")
    return client_network(client_address(peer, forwarded, settings.TRUSTED_PROXIES))


class RequestQueue:
    """Sends each request to an API worker through ``queue``. Without one, ``submit`` gets it if ``has_idle_thread``.

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
