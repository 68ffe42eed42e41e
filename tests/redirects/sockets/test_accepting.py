"""Accepting connections, over real sockets: both loops know and count the same clients."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from gunicorn.config import Config
from pytest_django.fixtures import Settings

from redirects.sockets.acceptor import Acceptor
from redirects.sockets.compiled_loop import CompiledEventLoop
from redirects.sockets.connections.admission import Admission
from redirects.sockets.connections.connection import Connection
from redirects.sockets.connections.open_connections import OpenConnections
from redirects.sockets.event_loop import EventLoop
from redirects.sockets.responses.client_stream import Incoming
from testing.adversary.known_links import lane_of_known_links
from testing.redirects.compiled import compiled_or_skip

KEPT = b"GET /plain01 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
CLOSING = b"GET /plain01 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
PER_ADDRESS = 2


class Accepting:
    """An event loop with a listener, and the addresses of its clients: all that were admitted, and the open ones."""

    def __init__(
        self, make_loop: Callable[..., EventLoop], listener: socket.socket, opened: ExitStack
    ) -> None:
        self.admitted: list[Any] = []
        self.open: list[Any] = []
        self.deferred: list[bytes] = []
        self.listener, self.opened = listener, opened
        self.connections = OpenConnections(
            on_closed=lambda connection: self._on_finished(connection.client), idle_timeout=75
        )
        self._admission = Admission(self.connections, limit=1_000, per_address=PER_ADDRESS)
        self.loop = make_loop(
            self.connections,
            lane_of_known_links(),
            config=Config(),
            on_deferred=self._on_deferred,
        )
        self.acceptor = Acceptor(
            self.loop,
            self._admission,
            try_admit=self._try_admit,
            on_finished=self._on_finished,
            on_paused=lambda: None,
        )
        listener.listen()
        self.acceptor.open([listener])
        self.acceptor.resume([listener])

    def connect(self, sent: bytes = b"", name: str | bytes = "") -> socket.socket:
        client = self.opened.enter_context(socket.socket(self.listener.family))
        client.settimeout(10)
        if name:
            client.bind(name)
        client.connect(self.listener.getsockname())
        client.sendall(sent)
        return client

    def run_until(self, is_reached: Callable[[], bool]) -> None:
        while not is_reached():
            self.loop.run_once(1.0)

    def _try_admit(self, client: Any) -> bool:
        if not self._admission.try_admit(client):
            return False
        self.admitted.append(client)
        self.open.append(client)
        return True

    def _on_deferred(self, connection: Connection, incoming: Incoming) -> None:
        self.deferred.append(incoming.data)
        connection.sock.close()

    def _on_finished(self, client: Any) -> None:
        self._admission.remove(client)
        self.open.remove(client)


@pytest.fixture(params=["compiled", "Python"])
def make_loop(request: pytest.FixtureRequest, settings: Settings) -> Callable[..., EventLoop]:
    settings.BASE_HOSTS = frozenset({"127.0.0.1"})
    is_compiled = request.param == "compiled"
    return partial(CompiledEventLoop, plain_links=compiled_or_skip()) if is_compiled else EventLoop


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


def _accepting(
    make_loop: Callable[..., EventLoop], opened: ExitStack, family: int, address: Any
) -> Accepting:
    listener = opened.enter_context(socket.socket(family))
    listener.bind(address)
    accepting = Accepting(make_loop, listener, opened)
    opened.callback(accepting.loop.close)
    return accepting


@pytest.fixture
def accepting(make_loop: Callable[..., EventLoop], opened: ExitStack) -> Accepting:
    return _accepting(make_loop, opened, socket.AF_INET, ("127.0.0.1", 0))


def _is_readable(client: socket.socket) -> bool:
    poll = select.poll()
    poll.register(client, select.POLLIN)
    return bool(poll.poll(0))


def _received(client: socket.socket) -> bytes:
    return b"".join(iter(lambda: client.recv(65_536), b""))


def test_a_connection_that_is_answered_and_closed_is_counted_until_then(accepting: Accepting) -> None:
    clients = [accepting.connect(CLOSING) for _ in range(PER_ADDRESS)]
    accepting.run_until(lambda: len(accepting.admitted) == PER_ADDRESS and not accepting.open)

    for client in clients:
        assert _received(client).startswith(b"HTTP/1.1 302 Found\r\n")
    assert accepting.admitted == [client.getsockname() for client in clients]
    assert accepting.connections.by_descriptor == {}


def test_an_address_at_its_limit_is_refused_until_a_connection_closes(accepting: Accepting) -> None:
    first, second = accepting.connect(), accepting.connect(KEPT)
    accepting.run_until(lambda: len(accepting.open) == PER_ADDRESS)
    refused = accepting.connect()
    accepting.run_until(lambda: _is_readable(refused))
    assert refused.recv(1) == b""

    first.close()
    accepting.run_until(lambda: accepting.open == [second.getsockname()])
    third = accepting.connect(CLOSING)
    accepting.run_until(lambda: len(accepting.admitted) == PER_ADDRESS + 1 and len(accepting.open) == 1)

    assert _received(third).startswith(b"HTTP/1.1 302 Found\r\n")
    assert second.recv(65_536).startswith(b"HTTP/1.1 302 Found\r\n")


def test_a_connection_that_is_kept_open_answers_its_next_request(accepting: Accepting) -> None:
    client = accepting.connect(KEPT)
    for sent in (b"", KEPT, CLOSING):
        client.sendall(sent)
        accepting.run_until(lambda: _is_readable(client))
        assert client.recv(65_536).startswith(b"HTTP/1.1 302 Found\r\n")

    assert client.recv(1) == b""
    assert accepting.open == []


def test_a_client_that_has_gone_is_not_counted(accepting: Accepting) -> None:
    accepting.connect().close()
    accepting.run_until(lambda: len(accepting.admitted) == 1 and not accepting.open)

    assert accepting.connections.by_descriptor == {}


@pytest.mark.parametrize("name", ["", "abstract", "path"])
def test_clients_of_a_unix_socket_have_the_names_that_python_gives_them(
    make_loop: Callable[..., EventLoop], opened: ExitStack, tmp_path: Path, name: str
) -> None:
    accepting = _accepting(make_loop, opened, socket.AF_UNIX, str(tmp_path / "listener"))
    own = {"": "", "abstract": b"\0" + str(tmp_path).encode(), "path": str(tmp_path / "\udce9")}[name]
    client = accepting.connect(KEPT, own)
    accepting.run_until(lambda: bool(accepting.admitted))

    assert accepting.admitted == [own]
    accepting.run_until(lambda: _is_readable(client))
    [connection] = accepting.connections.by_descriptor.values()
    assert (connection.client, connection.address, connection.server) == (
        own,
        "",
        str(tmp_path / "listener"),
    )


def test_clients_have_the_ipv6_addresses_that_python_gives_them(
    make_loop: Callable[..., EventLoop], opened: ExitStack
) -> None:
    accepting = _accepting(make_loop, opened, socket.AF_INET6, ("::", 0))
    client = opened.enter_context(
        socket.create_connection(("127.0.0.1", accepting.listener.getsockname()[1]))
    )
    accepting.run_until(lambda: bool(accepting.admitted))
    other = opened.enter_context(socket.create_connection(("::1", accepting.listener.getsockname()[1])))
    accepting.run_until(lambda: len(accepting.admitted) == PER_ADDRESS)

    assert accepting.admitted == [("::ffff:127.0.0.1", client.getsockname()[1], 0, 0), other.getsockname()]


def test_the_internal_listener_redirects_nobody(
    make_loop: Callable[..., EventLoop], opened: ExitStack, tmp_path: Path, settings: Settings
) -> None:
    settings.INTERNAL_LISTEN = str(tmp_path / "internal")
    accepting = _accepting(make_loop, opened, socket.AF_UNIX, settings.INTERNAL_LISTEN)
    accepting.connect(KEPT)
    accepting.run_until(lambda: bool(accepting.deferred))

    assert accepting.deferred == [KEPT]
