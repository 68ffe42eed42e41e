"""Requests queued for a thread, in round-robin order of their clients: a flood delays only its own sender."""

from __future__ import annotations

import re
import time
from collections import OrderedDict, deque
from collections.abc import Iterator

from django.conf import settings

from common.http.client_address import client_address, client_network
from fastlane.handoff.between_processes import Handoff

_FORWARDED_FOR = re.compile(rb"\r\nx-forwarded-for:([^\r]*)", re.IGNORECASE)


class _ClientQueue(deque[Handoff]):
    """One client's requests. ``held``: their bytes."""

    held = 0


class FairQueue:
    """``held``: bytes of the queued requests."""

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
