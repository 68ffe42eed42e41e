"""An event loop that accepts clients, for the tests of this folder."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from gunicorn.config import Config

from fastlane.sockets.admission import Acceptor, Admission
from fastlane.sockets.connections import Connection, OpenConnections
from fastlane.sockets.event_loop import EventLoop
from fastlane.sockets.outgoing import Incoming
from testing.fastlane.known_links import lane_of_known_links

KEPT = b"GET /plain01 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
CLOSING = b"GET /plain01 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
PER_ADDRESS = 2


class Accepting:
    """An event loop with a listener, and the addresses of its clients: all that were admitted, and the open ones."""

    def __init__(
        self,
        make_loop: Callable[..., EventLoop],
        opened: ExitStack,
        family: int,
        address: Any,
        *,
        limit: int = 1_000,
    ) -> None:
        self.admitted: list[Any] = []
        self.open: list[Any] = []
        self.deferred: list[bytes] = []
        # Called while a client is admitted, and while a request is deferred.
        self.admitting: Callable[[], object] = lambda: None
        self.deferring: Callable[[], object] = lambda: None
        self.opened = opened
        self.listener = opened.enter_context(socket.socket(family))
        if family == socket.AF_INET6:
            # Hosts differ in the default.
            self.listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.listener.bind(address)
        self.connections = OpenConnections(
            on_closed=lambda connection: self._on_finished(connection.client), idle_timeout=75
        )
        self._admission = Admission(self.connections, limit=limit, per_address=PER_ADDRESS)
        self.loop = make_loop(
            self.connections,
            lane_of_known_links(),
            config=Config(),
            on_deferred=self._on_deferred,
        )
        opened.callback(self.loop.close)
        self.acceptor = Acceptor(
            self.loop,
            self._admission,
            try_admit=self._try_admit,
            on_finished=self._on_finished,
            on_paused=lambda: None,
        )
        self.listener.listen()
        self.acceptor.open([self.listener])
        self.acceptor.resume([self.listener])

    def connect(self, sent: bytes = b"", name: str | bytes = "") -> socket.socket:
        client = self.opened.enter_context(socket.socket(self.listener.family))
        client.settimeout(10)
        if name:
            client.bind(name)
        client.connect(self.listener.getsockname())
        client.sendall(sent)
        return client

    def add(self, address: str, sent: bytes) -> socket.socket:
        """A client of another address, whose requests the loop has read already."""
        ours, theirs = socket.socketpair()
        self.opened.callback(ours.close)
        self.opened.enter_context(theirs)
        theirs.setblocking(False)
        client = (address, 40_000)
        assert self._try_admit(client)
        self.loop.add(ours, client, self.listener.getsockname(), sent)
        return theirs

    def run_until(self, is_reached: Callable[[], bool]) -> None:
        while not is_reached():
            self.loop.run_once(1.0)

    def _try_admit(self, client: Any) -> bool:
        if not self._admission.try_admit(client):
            return False
        self.admitting()
        self.admitted.append(client)
        self.open.append(client)
        self._admission.free_capacity(len(self.open))
        return True

    def _on_deferred(self, connection: Connection, incoming: Incoming) -> None:
        self.deferring()
        self.deferred.append(incoming.data)
        connection.sock.close()

    def _on_finished(self, client: Any) -> None:
        self._admission.remove(client)
        self.open.remove(client)


def is_readable(sock: socket.socket, milliseconds: int = 0) -> bool:
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(milliseconds))
