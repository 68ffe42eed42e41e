"""The state of one connection, and whether its client has disconnected."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable
from typing import Any

from fastlane.sockets.incoming import PartialRequest
from fastlane.sockets.outgoing import Outbox

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


# Timeouts for the first byte of a new connection, and from there for the complete head.
FIRST_BYTE_SECONDS = 10.0
HEAD_SECONDS = 10.0
# A body must be complete within this time plus one second for each BODY_BYTES_A_SECOND received. Occasional single
# bytes do not extend the deadline.
BODY_SECONDS = 30.0
BODY_BYTES_A_SECOND = 64 * 1024
# A client must read at least one byte of its response within WRITE_SECONDS, and all of it within that time plus one
# second for each WRITTEN_BYTES_A_SECOND sent.
WRITE_SECONDS = 30.0
WRITTEN_BYTES_A_SECOND = 4 * 1024
# How long the loop waits for the client to close after the last response (RFC 9112, section 9.6).
CLOSING_SECONDS = 2.0


class Connection:
    """Main thread only. The loop closes an inactive connection at ``deadline`` (monotonic seconds).

    ``is_special``: the next bytes are not a request head for the fast lane. True while the loop receives a body, sends
    a response or closes the connection, and always on the internal listener.
    """

    __slots__ = (
        "address",
        "client",
        "closing",
        "deadline",
        "is_internal",
        "is_ready",
        "is_special",
        "on_sent",
        "outbox",
        "partial_request",
        "read",
        "sending_since",
        "sent",
        "server",
        "sock",
    )

    def __init__(
        self, sock: socket.socket, client: Any, server: Any, deadline: float, *, is_internal: bool = False
    ) -> None:
        self.sock = sock
        self.client = client
        self.server = server
        # Unix socket peers have no address.
        self.address: str = client[0] if isinstance(client, tuple) else ""
        self.deadline = deadline
        self.is_internal = self.is_special = is_internal
        # Start of an incomplete head.
        self.read = b""
        self.partial_request: PartialRequest | None = None
        self.outbox: Outbox | None = None
        self.on_sent: Callable[[Connection], None] | None = None
        # When the response in ``outbox`` began (monotonic), and the bytes of it that were sent.
        self.sending_since = 0.0
        self.sent = 0
        # ``read`` holds requests for the next iteration.
        self.is_ready = False
        # The write side is shut down. Discard further input.
        self.closing = False

    @property
    def is_idle(self) -> bool:
        """Whether no request or response is in progress."""
        return not (self.read or self.partial_request or self.outbox or self.closing)

    @property
    def held(self) -> int:
        """Bytes buffered for this connection."""
        received = self.partial_request.size if self.partial_request else len(self.read)
        return received + (self.outbox.size if self.outbox else 0)

    def receive(self, partial_request: PartialRequest) -> None:
        self.read, self.partial_request, self.is_special = b"", partial_request, True
        self.deadline = body_deadline(partial_request)

    def expect_head(self) -> None:
        """Expect the head of a request next."""
        self.partial_request = self.outbox = self.on_sent = None
        self.is_ready = False
        self.is_special = self.is_internal or self.closing


def body_deadline(partial_request: PartialRequest) -> float:
    return partial_request.started_at + BODY_SECONDS + partial_request.size / BODY_BYTES_A_SECOND


def write_deadline(connection: Connection, now: float) -> float:
    """Occasional single bytes do not extend it."""
    overall = connection.sending_since + WRITE_SECONDS + connection.sent / WRITTEN_BYTES_A_SECOND
    return min(now + WRITE_SECONDS, overall)
