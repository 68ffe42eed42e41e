"""Slow, stalled and non-reading clients do not delay other clients."""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from testing.adversary.conversation import AGENT, followed_codes
from testing.adversary.slow import KINDS, SlowClients, held
from testing.service.connection import read_to_end
from testing.service.hosts import one_host
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import DEADLINE, Connection, Service, eventually

pytestmark = pytest.mark.slow

# Clients of each kind.
SLOW = 40
LIMIT = 60
# Short, because one test waits until idle connections are closed.
KEEP_ALIVE = 30
MANY = 5_000
REQUEST = b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: " + AGENT + b"\r\n"

MakeDatabase = Callable[[], str]


@pytest.fixture(scope="module", params=["auto", "off"], ids=["compiled loop", "Python loop"])
def service(make_database: MakeDatabase, request: pytest.FixtureRequest) -> Iterator[Service]:
    with one_host(
        make_database(),
        COMPILED_LOOP=request.param,
        **LONG_TIMEOUTS
        | {"GUNICORN_CMD_ARGS": f"{LONG_TIMEOUTS['GUNICORN_CMD_ARGS']} --keep-alive {KEEP_ALIVE}"},
    ) as service:
        yield service


@pytest.fixture(scope="module")
def code(service: Service) -> str:
    service.create_link(
        service.owner.api_key, originalUrl="https://example.com/patient", customCode="patient"
    )
    assert service.call("GET", "/patient").status == 302
    return "patient"


@pytest.fixture
def client(service: Service) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", service.port), DEADLINE) as connection:
        yield connection


def is_readable(connection: socket.socket) -> bool:
    # `select.select` rejects descriptors above 1023.
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))


def test_slow_clients_delay_no_other_client_and_are_disconnected_in_time(service: Service, code: str) -> None:
    workers = service.workers()
    key = service.owner.api_key
    with (
        SlowClients(service.port, code, key, SLOW * len(KINDS)) as slow,
        closing(Connection(service.port)) as kept,
    ):
        for number in range(100):
            slow.drip()
            assert kept.call("GET", f"/{code}").status == 302
            assert service.call("GET", f"/{code}").status == 302
            if number % 5 == 0:
                assert service.call("GET", "/api/domains", X_API_Key=key).status == 200
                assert (
                    service.call("POST", "/api/urls", {"originalUrl": "nothing"}, X_API_Key=key).status == 400
                )
                assert service.call("GET", "/nobody-knows").status == 404

        def are_gone() -> bool:
            slow.drip()
            return held(service.port) == 0

        kept.close()
        eventually(are_gone, every=0.2)

    assert service.workers() == workers


def test_slow_readers_receive_every_byte(service: Service, code: str) -> None:
    """Consecutive requests on one connection whose buffers hold hardly one response."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        connection.settimeout(DEADLINE)
        connection.connect(("127.0.0.1", service.port))
        received = b""
        for _ in range(50):
            connection.sendall(REQUEST % code.encode() + b"\r\n")
            while not received.endswith(b"\r\n\r\n"):
                received += connection.recv(50)
            assert followed_codes(received) == [code]
            received = b""


def test_a_client_that_pipelines_thousands_and_reads_late_gets_every_response(
    service: Service, code: str
) -> None:
    """The service queues whole responses that do not fit into the socket."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(DEADLINE)
        connection.connect(("127.0.0.1", service.port))
        last = REQUEST % code.encode() + b"Connection: close\r\n\r\n"
        sent, received = 0, b""
        connection.setblocking(False)
        request = REQUEST % code.encode() + b"\r\n"
        requests = request * (MANY - 1) + last
        while sent < len(requests):
            try:
                sent += connection.send(requests[sent : sent + 100 * len(request)])
            except BlockingIOError:
                # Read something, or both sides would wait for each other.
                connection.settimeout(DEADLINE)
                received += connection.recv(65_536)
                connection.setblocking(False)
        connection.settimeout(DEADLINE)
        received += read_to_end(connection)

    assert followed_codes(received) == [code] * MANY
    assert received.count(b"HTTP/1.1 302 Found\r\n") == MANY
    assert received.count(b"\r\nConnection: close\r\n") == 1


def test_a_large_response_read_byte_by_byte_does_not_delay_redirects(service: Service, code: str) -> None:
    whole = service.call("GET", "/api/schema").body
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        connection.settimeout(DEADLINE)
        connection.connect(("127.0.0.1", service.port))
        connection.sendall(b"GET /api/schema HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        received = connection.recv(1)
        for _ in range(20):
            assert service.call("GET", f"/{code}").status == 302
        received += read_to_end(connection)

    assert received.partition(b"\r\n\r\n")[2] == whole


def test_silent_clients_are_disconnected_after_the_keep_alive_time(service: Service, code: str) -> None:
    """Three idle clients at once: one has sent nothing, one has followed a link, and one has called the API."""
    with ExitStack() as opened:
        clients = []
        for path in (None, code, "api/domains"):
            client = socket.create_connection(("127.0.0.1", service.port), DEADLINE)
            clients.append((path, opened.enter_context(client)))
            if path:
                client.sendall(REQUEST % path.encode() + b"\r\n")

        received = {path: read_to_end(client) for path, client in clients}

    for path, responses in received.items():
        assert responses.count(b"HTTP/1.1 ") == (path is not None)
        assert b"\r\nConnection: close\r\n" not in responses


@pytest.mark.parametrize("path", ["patient", "nobody-knows", "api/domains"])
def test_a_client_that_shut_down_its_side_gets_a_response(
    client: socket.socket, code: str, path: str
) -> None:
    client.sendall(REQUEST % path.encode() + b"\r\n")
    client.shutdown(socket.SHUT_WR)

    received = read_to_end(client)

    assert received[9:12] == {"patient": b"302", "nobody-knows": b"404", "api/domains": b"401"}[path]


@pytest.mark.parametrize("path", ["patient", "nobody-knows", "api/schema"])
def test_with_connection_close_the_whole_response_is_sent_before_the_end(
    client: socket.socket, code: str, path: str
) -> None:
    client.sendall(REQUEST % path.encode() + b"Connection: close\r\n\r\n")

    head, _, body = read_to_end(client).partition(b"\r\n\r\n")

    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert fields[b"connection"] == b"close"
    assert fields[b"content-length"] == b"%d" % len(body)


def test_connection_resets_at_any_time_cause_no_error(service: Service, code: str) -> None:
    """A reset before the request, within it, and before or within a response."""
    for sent in (
        b"",
        b"GET /",
        REQUEST % code.encode() + b"\r\n",
        b"GET /api/domains HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ):
        for _ in range(10):
            with socket.create_connection(("127.0.0.1", service.port), DEADLINE) as connection:
                connection.sendall(sent)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    assert service.call("GET", f"/{code}").status == 302
    assert service.call("GET", "/api/domains").status == 401
    assert "Traceback" not in service.stderr, service.stderr


@pytest.mark.parametrize("apart", ["1", "0"])
def test_at_the_limit_a_new_connection_replaces_the_longest_idle_one(
    make_database: MakeDatabase, apart: str
) -> None:
    options = f"{LONG_TIMEOUTS['GUNICORN_CMD_ARGS']} --worker-connections {LIMIT} --keep-alive 60"
    with one_host(
        make_database(), API_CONCURRENCY=apart, **LONG_TIMEOUTS | {"GUNICORN_CMD_ARGS": options}
    ) as service:
        service.create_link(service.owner.api_key, customCode="capped")
        # The link is cached from here on, so no connection is handed to another process and back.
        assert service.call("GET", "/capped").status == 302
        with ExitStack() as opened:
            connections = [opened.enter_context(closing(Connection(service.port))) for _ in range(LIMIT)]
            for connection in connections:
                assert connection.call("GET", "/capped").status == 302
            for _ in range(LIMIT):
                late = opened.enter_context(closing(Connection(service.port)))
                assert late.call("GET", "/capped").status == 302

            closed = sum(is_readable(client.sock) for client in connections)
            assert closed >= LIMIT - 10
