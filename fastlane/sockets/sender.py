"""Sends responses as fast as clients read them."""

from __future__ import annotations

import select
import time
from collections.abc import Callable

from fastlane.sockets.connection import Connection, write_deadline
from fastlane.sockets.open_connections import OpenConnections
from fastlane.sockets.outgoing import Outbox


class Sender:
    def __init__(self, connections: OpenConnections) -> None:
        self._connections = connections

    def begin(self, connection: Connection, outbox: Outbox, on_sent: Callable[[Connection], None]) -> None:
        """Send the response as the client reads it, then call ``on_sent``."""
        connection.outbox, connection.on_sent, connection.is_special = outbox, on_sent, True
        connection.sending_since, connection.sent = time.monotonic(), 0
        connection.deadline = write_deadline(connection, connection.sending_since)
        self._send(connection, outbox, is_writing=False)

    def resume(self, connection: Connection, outbox: Outbox, event: int) -> None:
        if event & ~select.EPOLLIN:
            self._send(connection, outbox, is_writing=True)

    def _send(self, connection: Connection, outbox: Outbox, *, is_writing: bool) -> None:
        connections = self._connections
        try:
            sent = outbox.send(connection.sock)
        except OSError:
            connections.drop(connection)
            return
        connections.memory.update(connection)
        if outbox:
            if sent:
                connection.sent += sent
                connection.deadline = write_deadline(connection, time.monotonic())
            if not is_writing:
                connections.epoll.modify(connection.sock.fileno(), select.EPOLLOUT)
            return
        if is_writing:
            connections.epoll.modify(connection.sock.fileno(), select.EPOLLIN)
        on_sent = connection.on_sent
        connection.expect_head()
        connection.deadline = time.monotonic() + connections.idle_timeout
        if on_sent is not None:
            on_sent(connection)
