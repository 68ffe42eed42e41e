"""The open connections of a process: the state and the deadlines of each, and the memory that they may take."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from heapq import nsmallest
from itertools import islice
from typing import Any

from common.http.client_address import is_internal_address
from fastlane.sockets.incoming import PartialRequest
from fastlane.sockets.outgoing import Outbox

# A half-closed client may still read the response. After this time it counts as disconnected.
_HALF_CLOSED_SECONDS = 2.0


def has_disconnected(sock: socket.socket, since: float) -> bool:
    """Return whether the client has gone. ``since``: when its request was complete, in monotonic seconds."""
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
        """How many bytes are buffered for this connection."""
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
    """Return when the client must have read more. Occasional single bytes do not extend it."""
    overall = connection.sending_since + WRITE_SECONDS + connection.sent / WRITTEN_BYTES_A_SECOND
    return min(now + WRITE_SECONDS, overall)


# Bytes of incomplete requests and unsent responses.
MAX_BUFFERED = 64 * 1024 * 1024
# Low-water mark: dropping down to it avoids a search for every new byte.
_LOW_WATER_MARK = MAX_BUFFERED * 7 // 8


class MemoryBound:
    def __init__(self) -> None:
        self.buffered = 0
        self._counted: dict[Connection, int] = {}

    @property
    def is_exceeded(self) -> bool:
        return self.buffered > MAX_BUFFERED

    def update(self, connection: Connection) -> None:
        """Update the total after the buffers of a connection have changed."""
        before, held = self._counted.get(connection, 0), connection.held
        self.buffered += held - before
        if held:
            self._counted[connection] = held
        elif before:
            del self._counted[connection]

    def remove(self, connection: Connection) -> None:
        self.buffered -= self._counted.pop(connection, 0)

    def excess(self) -> Iterator[Connection]:
        """Yield the connections with the earliest deadlines until the total reaches the low-water mark."""
        if self.is_exceeded:
            for connection in sorted(self._counted, key=_deadline):
                if self.buffered <= _LOW_WATER_MARK:
                    break
                yield connection


def longest_idle(connections: Mapping[int, Connection], number: int) -> list[Connection]:
    """Return idle connections first, then connections with a request in progress, at last those with a response."""
    return nsmallest(
        number,
        connections.values(),
        key=lambda connection: (
            connection.outbox is not None,
            not connection.is_idle,
            connection.deadline,
        ),
    )


def _deadline(connection: Connection) -> float:
    return connection.deadline


# More than the loop accepts between two reads.
_UNREAD = 128


class OpenConnections:
    """Main thread only. Calls ``on_closed`` with each connection that it closes.

    ``idle_timeout``: seconds that a connection stays open between two requests. ``ending``: the process is stopping,
    so each response closes its connection. The event loop reads ``epoll`` and ``by_descriptor`` directly. It sets
    ``add_newcomers``, which adds the connections that it has accepted and not added yet.
    """

    def __init__(self, *, on_closed: Callable[[Connection], None], idle_timeout: float) -> None:
        self.epoll = select.epoll()
        # A descriptor that is not here belongs to `EventLoop.watch`.
        self.by_descriptor: dict[int, Connection] = {}
        self.memory = MemoryBound()
        self.idle_timeout = idle_timeout
        self.ending = False
        self.add_newcomers: Callable[[], None] = lambda: None
        self._on_closed = on_closed

    def add(
        self,
        sock: socket.socket,
        client: Any,
        server: Any,
        *,
        is_new: bool = False,
        is_registered: bool = False,
    ) -> Connection:
        """Raises OSError or ValueError if the socket is closed. ``is_registered``: in the epoll."""
        if sock.gettimeout() != 0.0:
            sock.setblocking(False)
        descriptor = sock.fileno()
        if not is_registered:
            self.epoll.register(descriptor, select.EPOLLIN)
        timeout = min(FIRST_BYTE_SECONDS, self.idle_timeout) if is_new else self.idle_timeout
        deadline = time.monotonic() + timeout
        connection = Connection(sock, client, server, deadline, is_internal=is_internal_address(server))
        self.by_descriptor[descriptor] = connection
        return connection

    def release(self, connection: Connection) -> bool:
        """Give up a connection, which stays open. Return whether the loop owned it."""
        self.memory.remove(connection)
        connection.read, connection.partial_request = b"", None
        descriptor = connection.sock.fileno()
        if self.by_descriptor.get(descriptor) is not connection:
            return False
        # The process that handed the connection over may still have it open. A closed socket would then remain in
        # ``epoll``.
        self.epoll.unregister(descriptor)
        del self.by_descriptor[descriptor]
        return True

    def drop(self, connection: Connection) -> None:
        """Close a connection. Does nothing if the loop does not own it: a thread may be using its socket."""
        if not self.release(connection):
            return
        if connection.outbox is not None:
            connection.outbox.close()
        connection.sock.close()
        self._on_closed(connection)

    def finish(self, connection: Connection) -> None:
        """Close after a response with ``Connection: close``."""
        if self.ending:
            self.shutdown_gracefully(connection)
        else:  # the client requested it
            self.drop(connection)

    def shutdown_gracefully(self, connection: Connection) -> None:
        """Close in two steps: an immediate close could lose the last response (RFC 9112, section 9.6)."""
        connection.read = b""
        connection.closing = True
        connection.expect_head()
        self.memory.update(connection)
        connection.deadline = time.monotonic() + CLOSING_SECONDS
        try:
            connection.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self.drop(connection)

    def drop_expired(self, now: float) -> None:
        """Drop connections that are past their deadline. ``now`` in monotonic seconds.

        A request may have arrived on an idle connection since the loop last read, for example while this process was
        suspended. The next iteration then answers it.
        """
        self.add_newcomers()
        expired = [connection for connection in self.by_descriptor.values() if connection.deadline <= now]
        for connection in expired:
            if not _has_unread_request(connection):
                self.drop(connection)

    def drop_longest_idle(self, number: int) -> int:
        """Drop up to ``number`` connections. Return how many were dropped.

        None whose request has arrived already: the next iteration reads it. Those are the latest ones, which the
        loop has accepted since it last read.
        """
        self.add_newcomers()
        idle = longest_idle(self.by_descriptor, number + _UNREAD)
        dropped = list(islice((one for one in idle if not _has_unread_request(one)), number))
        for connection in dropped:
            self.drop(connection)
        return len(dropped)

    def begin_shutdown(self, deadline: float, idle_timeout: float) -> None:
        """Begin to stop: cap the keep-alive of idle connections at ``deadline`` (monotonic), of later ones at
        ``idle_timeout``.
        """
        self.ending = True
        self.add_newcomers()
        self.idle_timeout = idle_timeout
        for connection in self.by_descriptor.values():
            if connection.is_idle:
                connection.deadline = min(connection.deadline, deadline)

    def close(self) -> None:
        self.add_newcomers()
        for connection in list(self.by_descriptor.values()):
            self.drop(connection)
        self.epoll.close()


def _has_unread_request(connection: Connection) -> bool:
    """Whether the connection is idle and the next read returns data or the end of the input, or raises an error."""
    if not connection.is_idle:
        return False
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))
