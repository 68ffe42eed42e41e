"""Finds clients that have gone before their request was processed."""

from __future__ import annotations

import select
import socket
import time

# A half-closed client may still read the response. After this time it counts as disconnected.
_HALF_CLOSED_SECONDS = 2.0


def has_disconnected(sock: socket.socket, since: float) -> bool:
    """``since``: when the request was complete, in monotonic seconds."""
    poll = select.poll()
    poll.register(sock, select.POLLRDHUP)
    for _, event in poll.poll(0):
        is_closed = bool(event & (select.POLLHUP | select.POLLERR))
        return is_closed or time.monotonic() - since > _HALF_CLOSED_SECONDS
    return False
