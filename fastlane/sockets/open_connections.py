"""The open connections of a process, in the order of their deadlines, and the memory that they may take."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from heapq import nsmallest
from itertools import islice
from typing import Any

from common.host.internal_listener import is_internal_address
from fastlane.sockets.connection import CLOSING_SECONDS, FIRST_BYTE_SECONDS, Connection

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
