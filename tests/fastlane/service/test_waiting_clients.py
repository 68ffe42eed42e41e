"""No client blocks a thread, whatever it sends or does not read."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from testing.adversary.conversation import AGENT
from testing.adversary.slow import KINDS, LARGE_FILE, Kind, SlowClients
from testing.service.hosts import one_host
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import DEADLINE, Connection, Service

pytestmark = pytest.mark.slow

# More clients than both workers have threads.
MANY = 24
HEAD = b" HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: " + AGENT + b"\r\n"
LOGIN = b"POST /api/auth/login" + HEAD + b"Content-Type: application/json\r\n"
LINKS = 6_000

MakeDatabase = Callable[[], str]


@pytest.fixture(scope="module", params=["1", "0"], ids=["roles apart", "one process"])
def busy(request: pytest.FixtureRequest, make_database: MakeDatabase) -> Iterator[Service]:
    with one_host(make_database(), API_CONCURRENCY=request.param, **LONG_TIMEOUTS) as service:
        service.create_link(service.owner.api_key, customCode="known")
        assert service.call("GET", "/known").status == 302
        yield service


def connect(service: Service) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), DEADLINE)


def read_response(connection: socket.socket) -> tuple[bytes, bytes]:
    """Head and body of one response with a Content-Length."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += read_more(connection, 1)
    length = int(received.lower().partition(b"\r\ncontent-length: ")[2].partition(b"\r\n")[0])
    body = b""
    while len(body) < length:
        body += read_more(connection, length - len(body))
    return received, body


def read_more(connection: socket.socket, size: int) -> bytes:
    chunk = connection.recv(size)
    assert chunk, "The service closed the connection."
    return chunk


def assert_serves(service: Service) -> None:
    key = service.owner.api_key
    assert service.call("GET", "/healthz").status == 200
    assert service.call("GET", "/known").status == 302
    assert service.call("GET", "/nobody-knows").status == 404
    assert service.call("GET", "/api/domains", X_API_Key=key).status == 200
    assert service.call("POST", "/api/urls", {"originalUrl": "nothing"}, X_API_Key=key).status == 400


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_many_clients_of_one_kind_leave_every_thread_free(busy: Service, kind: Kind) -> None:
    with SlowClients(busy.port, "known", busy.owner.api_key, MANY, [kind]) as slow:
        for _ in range(3):
            slow.drip()
            assert_serves(busy)


def test_100_continue_is_sent_once_before_the_body(busy: Service) -> None:
    body = b'{"email": "a@example.com", "password": 1}'
    with closing(connect(busy)) as connection:
        connection.sendall(LOGIN + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        assert connection.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        head, _ = read_response(connection)

    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")


def assert_413(head: bytes) -> None:
    """The body is refused, and nothing more is read from the connection."""
    assert head.startswith(b"HTTP/1.1 413 ")
    assert b"\r\nConnection: close\r\n" in head


def test_100_continue_is_not_sent_for_rejected_requests(busy: Service) -> None:
    with closing(connect(busy)) as connection:
        connection.sendall(LOGIN + b"Expect: 100-continue\r\nContent-Length: 9000000\r\n\r\n")
        head, body = read_response(connection)

    assert_413(head)
    assert b'"body_too_large"' in body


def test_413_ends_the_connection_and_can_be_read_by_a_client_that_goes_on_sending(busy: Service) -> None:
    with closing(connect(busy)) as connection:
        connection.sendall(LOGIN + b"Content-Length: 20000000\r\n\r\n" + b" " * 1_000_000)
        head, body = read_response(connection)
        assert connection.recv(1) == b""

    assert_413(head)
    assert b'"body_too_large"' in body


def test_a_body_that_was_read_and_is_too_large_closes_the_connection(busy: Service) -> None:
    with closing(connect(busy)) as connection:
        connection.sendall(LOGIN + b"Content-Length: 100000\r\n\r\n" + b" " * 100_000)
        head, _ = read_response(connection)
        assert connection.recv(1) == b""

    assert_413(head)


@pytest.mark.parametrize("size", [100_000, 131_072, 1_000_000, 4_000_000])
def test_a_long_body_arrives_whole_and_the_next_request_is_found_behind_it(busy: Service, size: int) -> None:
    body = b'{"urls": [' + b" " * size + b'{"originalUrl": "nothing"}]}'
    call = b"POST /api/urls/bulk" + HEAD + b"Content-Type: application/json\r\nX-API-Key: %s\r\n"
    with closing(connect(busy)) as connection:
        connection.sendall(
            call % busy.owner.api_key.encode()
            + b"Content-Length: %d\r\n\r\n" % len(body)
            + body
            + b"GET /known"
            + HEAD
            + b"\r\n"
        )
        _, first = read_response(connection)
        second, _ = read_response(connection)

    assert b"originalUrl" in first, first
    assert second.startswith(b"HTTP/1.1 302 Found\r\n")


def test_a_large_file_is_sent_whole_to_a_client_that_reads_slowly(busy: Service) -> None:
    whole = busy.call("GET", LARGE_FILE.decode()).body
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(DEADLINE)
        connection.connect(("127.0.0.1", busy.port))
        connection.sendall((b"GET " + LARGE_FILE + HEAD + b"\r\n") * 2)
        for _ in range(2):
            assert read_response(connection)[1] == whole


@pytest.fixture(scope="module")
def many_links(busy: Service) -> None:
    for start in range(0, LINKS, 1000):
        links = [
            {"originalUrl": f"https://example.com/{start + number}", "description": "d" * 500}
            for number in range(1000)
        ]
        response = busy.call("POST", "/api/urls/bulk", {"urls": links}, X_API_Key=busy.owner.api_key)
        assert response.status in (200, 201), response


@pytest.mark.usefixtures("many_links")
def test_unread_exports_occupy_no_thread_and_arrive_complete(busy: Service) -> None:
    call = b"GET /api/urls/export?format=jsonl" + HEAD + b"X-API-Key: %s\r\nConnection: close\r\n\r\n"
    with ExitStack() as opened:
        connections = []
        for _ in range(MANY):
            connection = opened.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(DEADLINE)
            connection.connect(("127.0.0.1", busy.port))
            connection.sendall(call % busy.owner.api_key.encode())
            assert connection.recv(9) == b"HTTP/1.1 "
            connections.append(connection)
        assert_serves(busy)
        # Later ones get 503 while exports of this account are under way.
        received = b"".join(iter(lambda: connections[0].recv(65_536), b""))

    assert received.count(b'"description":"ddd') == LINKS
    assert received.endswith(b"\r\n0\r\n\r\n")


def test_pipelined_requests_all_get_responses_from_the_fast_lane(busy: Service) -> None:
    with closing(connect(busy)) as connection:
        connection.sendall(
            (b"GET /known" + HEAD + b"\r\n") * 999 + b"GET /known" + HEAD + b"Connection: close\r\n\r\n"
        )
        received = b"".join(iter(lambda: connection.recv(65_536), b""))

    assert received.count(b"HTTP/1.1 302 Found\r\n") == 1000
    assert received.count(b"\r\nConnection: keep-alive\r\n") == 999


def test_pipelined_requests_of_many_kinds_get_responses_in_order(busy: Service) -> None:
    known = b"GET /known" + HEAD + b"\r\n"
    other = b"GET /api/domains" + HEAD + b"\r\n"
    health = b"HEAD /healthz" + HEAD + b"\r\n"
    last = b"GET /nobody-knows" + HEAD + b"Connection: close\r\n\r\n"
    with closing(connect(busy)) as connection:
        connection.sendall(known + other + known + health + other + known * 70 + last)
        received = b"".join(iter(lambda: connection.recv(65_536), b""))

    statuses = [part[:3] for part in received.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"302", b"401", b"302", b"200", b"401", *[b"302"] * 70, b"404"]


def test_oversized_head_is_rejected(busy: Service) -> None:
    with closing(connect(busy)) as connection:
        connection.sendall(
            b"GET /known" + HEAD + b"".join(b"X-%d: %s\r\n" % (n, b"y" * 8000) for n in range(20))
        )
        head, _ = read_response(connection)

    assert head.startswith(b"HTTP/1.1 431 ")


def test_a_connection_with_a_request_in_a_thread_is_not_read(busy: Service) -> None:
    """Later requests stay in the kernel's buffer and are processed in order."""
    with closing(Connection(busy.port)) as connection:
        for _ in range(20):
            assert connection.call("GET", "/api/domains").status == 401
            assert connection.call("GET", "/known").status == 302
