"""Keep-alive connections that API workers return to the redirect workers after a response."""

from __future__ import annotations

import selectors
from collections.abc import Callable
from typing import Any

from fastlane.handoff.channel import Handoff, handoff_queues
from fastlane.sockets.admission import OUT_OF_DESCRIPTORS
from fastlane.sockets.event_loop import EventLoop

# Connections received in one iteration, so that no event source starves the others.
_MAX_RECEIVED = 64


def try_return(handoff: Handoff) -> bool:
    """Return the connection from an API worker. False: the queue is full, and the caller still owns the connection."""
    try:
        handoff_queues().back.put(handoff)
    except OSError:
        return False
    return True


class ReturnReceiver:
    """Adds each returned connection that ``try_admit`` admits (by the client's address) to the event loop.

    Calls ``on_out_of_descriptors`` if the process has no descriptor for the next one.
    """

    def __init__(
        self,
        poller: selectors.BaseSelector,
        loop: EventLoop,
        *,
        try_admit: Callable[[Any], bool],
        on_out_of_descriptors: Callable[[], object],
    ) -> None:
        self._poller = poller
        self._loop = loop
        self._try_admit = try_admit
        self._on_out_of_descriptors = on_out_of_descriptors

    def start(self) -> None:
        self._poller.register(handoff_queues().back.read_end, selectors.EVENT_READ, self._receive)

    def stop(self) -> None:
        self._poller.unregister(handoff_queues().back.read_end)

    def _receive(self, _: Any) -> None:
        for _ in range(_MAX_RECEIVED):
            try:
                handoff = handoff_queues().back.take()
            except OSError as error:
                if error.errno not in OUT_OF_DESCRIPTORS:
                    raise
                self._on_out_of_descriptors()
                return
            if handoff is None:
                return
            if self._try_admit(handoff.client):
                self._loop.add(handoff.sock, handoff.client, handoff.server, handoff.incoming.rest)
            else:  # the response is complete, and a second one would belong to no request
                handoff.sock.close()
