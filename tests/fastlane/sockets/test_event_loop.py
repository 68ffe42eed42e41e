"""The event loop's ownership of connections, and its memory limit, over real sockets."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pytest
from django.conf import settings
from gunicorn.config import Config

from fastlane.compiled.event_loop import CompiledEventLoop
from fastlane.fast.lane import FastLane
from fastlane.sockets import connections
from fastlane.sockets.connections import Connection, OpenConnections
from fastlane.sockets.event_loop import EventLoop
from fastlane.sockets.outgoing import Incoming, Outbox
from testing.fastlane.compiled import compiled_or_skip

CLIENT = ("192.0.2.1", 40000)
SERVER = ("127.0.0.1", 8000)
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
POST = b"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 7000\r\n\r\n" + b"x" * 7000


class Loop:
    """An event loop, and lists of the connections that it deferred and closed."""

    def __init__(self, make_loop: Callable[..., EventLoop]) -> None:
        self.deferred: list[tuple[Connection, Incoming]] = []
        self.closed: list[Connection] = []
        self.connections = OpenConnections(on_closed=self.closed.append, idle_timeout=75)
        self.loop = make_loop(
            self.connections,
            FastLane(settings.BASE_HOSTS, ()),
            config=Config(),
            on_deferred=lambda connection, incoming: self.deferred.append((connection, incoming)),
        )
        self.opened = ExitStack()

    def connect(self) -> tuple[Connection, socket.socket]:
        served, client = socket.socketpair()
        self.opened.callback(served.close)
        self.opened.enter_context(client)
        client.settimeout(10)
        return self.loop.add(served, CLIENT, SERVER), client


@pytest.fixture(params=["compiled", "Python"])
def running(request: pytest.FixtureRequest) -> Iterator[Loop]:
    is_compiled = request.param == "compiled"
    running = Loop(partial(CompiledEventLoop, plain_links=compiled_or_skip()) if is_compiled else EventLoop)
    with running.opened:
        yield running
        running.loop.close()


def test_a_deferred_request_behind_another_one_is_not_counted_as_buffered(
    running: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_BUFFERED", 10_000)
    for number in range(1, 5):
        _, client = running.connect()
        client.sendall(HEALTH + POST)
        running.loop.run_once()
        assert client.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")
        assert [incoming.data for _, incoming in running.deferred] == [POST] * number
        assert running.connections.memory.buffered == 0
        running.loop.reap()
        # The loop writes nothing to a connection that a thread uses.
        client.setblocking(False)
        with pytest.raises(BlockingIOError):
            client.recv(1)
    assert running.closed == []


def test_a_connection_that_the_loop_does_not_own_is_neither_closed_nor_counted(running: Loop) -> None:
    connection, _ = running.connect()
    assert running.connections.release(connection)
    assert not running.connections.release(connection)
    running.connections.drop(connection)

    assert connection.sock.fileno() >= 0
    assert running.closed == []


def test_a_connection_is_closed_once(running: Loop) -> None:
    connection, _ = running.connect()
    running.connections.drop(connection)
    running.connections.drop(connection)

    assert running.closed == [connection]


def test_a_request_that_arrived_while_the_process_was_suspended_is_answered(running: Loop) -> None:
    connection, client = running.connect()
    running.loop.run_once()
    client.sendall(HEALTH)
    connection.deadline = 0.0
    running.loop.reap()
    assert running.closed == []

    running.loop.run_once()

    assert client.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")
    assert connection.deadline > time.monotonic()


@pytest.mark.parametrize("sent", [b"", b"GET /", POST[:-1]], ids=["silent", "in a head", "in a body"])
def test_no_other_connection_survives_its_deadline(running: Loop, sent: bytes) -> None:
    connection, client = running.connect()
    client.sendall(sent)
    running.loop.run_once()
    if sent:
        client.sendall(b"x")
    connection.deadline = 0.0
    running.loop.reap()

    assert running.closed == [connection]


def transmit(running: Loop, size: int) -> tuple[Connection, socket.socket]:
    """Begin to send a response that does not fit into the socket."""
    connection, client = running.connect()
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    outbox = Outbox()
    outbox.add(b"x" * size)
    running.loop.transmit(connection, outbox, running.connections.drop)
    assert connection.outbox
    return connection, client


def test_connections_with_a_response_are_dropped_last(running: Loop) -> None:
    sending, _ = transmit(running, 1_000_000)
    receiving, client = running.connect()
    client.sendall(b"GET /")
    running.loop.run_once()
    idle, _ = running.connect()

    running.connections.drop_longest_idle(1)
    assert running.closed == [idle]
    running.connections.drop_longest_idle(2)
    assert running.closed == [idle, receiving, sending]


def test_occasional_bytes_do_not_extend_the_time_for_a_response(
    running: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, client = transmit(running, 1_000_000)
    begun, now = time.monotonic(), time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    sent = -1
    while connection.sent > sent:
        sent = connection.sent
        now += 20
        running.loop.reap()
        assert running.closed == ([connection] if now > connection.deadline else [])
        if running.closed:
            break
        client.recv(8_000)
        poll = select.poll()
        poll.register(connection.sock, select.POLLOUT)
        poll.poll(10_000)
        running.loop.run_once()

    assert running.closed == [connection]
    assert now - begun < 30 + sent / 4096 + 20


def test_a_client_that_reads_steadily_receives_a_response_of_any_length(
    running: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    connection, client = transmit(running, 1_000_000)
    monkeypatch.setattr(time, "monotonic", lambda: now)
    received = 0
    while not running.closed:
        now += 0.2
        running.loop.reap()
        received += len(client.recv(4_096))
        running.loop.run_once()
    assert not connection.outbox
    received += sum(map(len, iter(lambda: client.recv(65_536), b"")))

    assert received == 1_000_000


def test_a_connection_whose_request_has_arrived_is_not_dropped_for_a_new_one(running: Loop) -> None:
    _, client = running.connect()
    client.sendall(HEALTH)

    assert running.connections.drop_longest_idle(1) == 0
    running.loop.run_once()
    assert client.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")
    assert running.connections.drop_longest_idle(1) == 1
    assert client.recv(1) == b""


def test_connections_whose_request_has_arrived_do_not_protect_idle_ones(running: Loop) -> None:
    _, idle = running.connect()
    idle.sendall(HEALTH)
    running.loop.run_once()
    assert idle.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")
    arrived = []
    for _ in range(3):
        connection, client = running.connect()
        # A new client has less time to send its request.
        connection.deadline -= 60
        client.sendall(HEALTH)
        arrived.append(client)

    assert running.connections.drop_longest_idle(1) == 1
    assert idle.recv(1) == b""
    running.loop.run_once()
    assert all(client.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n") for client in arrived)


def test_a_dropped_connection_of_which_another_process_has_a_copy_causes_no_events(running: Loop) -> None:
    connection, client = running.connect()
    copy = connection.sock.dup()
    client.sendall(HEALTH)

    running.connections.drop(connection)

    assert running.connections.epoll.poll(0) == []
    copy.close()
