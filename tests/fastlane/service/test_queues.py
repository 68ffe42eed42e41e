"""Requests queued for an API worker time out, and are dropped if the client disconnects. Probes have a thread."""

from __future__ import annotations

import socket
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress

import psycopg
import pytest

from testing.adversary.conversation import AGENT
from testing.adversary.slow import LARGE_FILE, held
from testing.service.connection import read_to_end
from testing.service.hosts import SECRET_KEY, one_host, stopped
from testing.service.limits import LONG_TIMEOUTS
from testing.service.processes import PROC, accepted_socket
from testing.service.running import DEADLINE, Connection, Response, Service, eventually

pytestmark = pytest.mark.slow

WAITING = 30
THREADS = 4
BUSY = 503, "2", "unavailable"
WORKER_CONNECTIONS = 40

MakeDatabase = Callable[[], str]


@pytest.fixture(scope="module")
def service(make_database: MakeDatabase) -> Iterator[Service]:
    # With the default time limit of the queue.
    with one_host(make_database(), **LONG_TIMEOUTS | {"API_QUEUE_SECONDS": "10"}) as started:
        started.create_link(started.owner.api_key, customCode="known")
        assert started.call("GET", "/known").status == 302
        yield started


@contextmanager
def api_stopped(service: Service) -> Iterator[None]:
    with stopped([worker for worker in service.workers() if worker not in service.accepting()]):
        yield


def test_a_request_that_has_waited_too_long_is_refused_even_if_no_api_worker_runs(service: Service) -> None:
    connections = [Connection(service.port) for _ in range(WAITING)]
    with api_stopped(service):
        for connection in connections:
            connection.send_request("GET", "/api/domains")
        responses = [connection.receive() for connection in connections]
        assert service.call("GET", "/healthz").status == 200
        assert service.call("GET", "/known").status == 302
    for connection in connections:
        connection.close()

    assert {refusal(response) for response in responses} == {BUSY}
    assert {response.headers["Connection"] for response in responses} == {"close"}
    assert service.call("GET", "/api/domains").status == 401


@contextmanager
def busy_threads(service: Service) -> Iterator[None]:
    """All threads of the API worker wait for the database, and their requests succeed after the block."""
    key = service.owner.api_key
    with ExitStack() as opened, psycopg.connect(service.environment["DATABASE_URL"]) as holder:
        holder.execute("LOCK TABLE links_link IN ACCESS EXCLUSIVE MODE")
        connections = [opened.enter_context(closing(Connection(service.port))) for _ in range(THREADS)]
        for connection in connections:
            connection.send_request("GET", "/api/urls", X_API_Key=key)
        waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'links_link'::regclass"
        eventually(lambda: len(holder.execute(waiting).fetchall()) == THREADS)
        yield
        holder.rollback()
        assert [connection.receive().status for connection in connections] == [200] * THREADS


def test_a_request_is_refused_in_time_while_every_thread_is_busy(service: Service) -> None:
    with busy_threads(service), ExitStack() as opened:
        connections = [opened.enter_context(closing(Connection(service.port))) for _ in range(WAITING)]
        for connection in connections:
            connection.send_request("GET", "/api/domains")

        assert [refusal(connection.receive()) for connection in connections] == [BUSY] * WAITING
    assert service.call("GET", "/api/domains").status == 401


def test_probes_are_answered_while_every_thread_is_busy(service: Service) -> None:
    with busy_threads(service):
        assert service.call("GET", "/readyz").status == 200
        assert service.call("HEAD", "/readyz").status == 200
        assert service.call_internal("/metrics").status == 200
        assert service.call("GET", "/healthz").status == 200
        # As HAProxy sends it.
        with socket.create_connection(("127.0.0.1", service.port), DEADLINE) as connection:
            connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            assert read_to_end(connection).startswith(b"HTTP/1.0 200 OK\r\n")


def refusal(response: Response) -> tuple[int, str, str]:
    return response.status, response.headers["Retry-After"], response.json()["code"]


def test_queued_request_of_a_disconnected_client_is_not_executed(service: Service) -> None:
    key = service.owner.api_key
    body = b'{"originalUrl": "https://example.com/", "customCode": "leftAlone"}'
    head = b"POST /api/urls HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: %s\r\n" % key.encode()
    head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    with api_stopped(service):
        with socket.create_connection(("127.0.0.1", service.port), DEADLINE) as connection:
            client_port = connection.getsockname()[1]
            connection.sendall(head + body)
            # The worker has read the request and queued it.
            assert service.call("GET", "/known").status == 302
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # The reset has arrived.
        eventually(lambda: accepted_socket(service.port, client_port) is None)
    eventually(lambda: service.call("GET", "/api/domains", X_API_Key=key).status == 200)

    assert service.call("GET", "/leftAlone").status == 404


def test_a_new_connection_has_less_time_than_one_that_is_kept_alive(service: Service) -> None:
    """A connection kept alive has 75 seconds, more than this test waits."""
    with (
        socket.create_connection(("127.0.0.1", service.port), DEADLINE) as silent,
        closing(Connection(service.port)) as kept,
    ):
        assert kept.call("GET", "/known").status == 302
        assert silent.recv(1) == b""
        assert kept.call("GET", "/known").status == 302


def test_connections_per_address_are_limited_except_for_trusted_proxies(
    make_database: MakeDatabase,
) -> None:
    database = make_database()
    for trusted, served in (("", 5), ("127.0.0.1/32", 20)):
        with one_host(database, CONNECTIONS_PER_ADDRESS="5", TRUSTED_PROXIES=trusted) as service:
            connections = []
            for _ in range(20):
                connections.append(socket.create_connection(("127.0.0.1", service.port), DEADLINE))
                # At once: the service closes a connection without a request after 10 seconds.
                connections[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert sum(_responds(connection) for connection in connections) == served
            for connection in connections:
                connection.close()
            # Closed connections no longer count.
            eventually(lambda service=service: _is_admitted(service))


@contextmanager
def unread_files(service: Service, number: int, connections_held: Callable[[], int]) -> Iterator[list[int]]:
    """Open connections that request more than the kernel buffers, and read only the first bytes.

    Yield the values of ``connections_held`` after each: the service closes such a connection after 30 seconds.
    """
    numbers = []
    request = b"GET " + LARGE_FILE + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: " + AGENT + b"\r\n\r\n"
    with ExitStack() as opened:
        for _ in range(number):
            connection = opened.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(DEADLINE)
            connection.connect(("127.0.0.1", service.port))
            connection.sendall(request * 6)
            with suppress(ConnectionResetError):
                connection.recv(1)
            numbers.append(connections_held())
        yield numbers


def held_by(worker: int, port: int) -> int:
    """Count the connections accepted on this port that the process holds."""
    inodes = set()
    for entry in (PROC / str(worker) / "fd").iterdir():
        with suppress(OSError):
            inodes.add(str(entry.readlink()))
    rows = [line.split() for line in (PROC / "net/tcp").read_text().splitlines()[1:]]
    # The kernel may list a connection twice while others are opened.
    return len({row[9] for row in rows if row[1].endswith(f":{port:04X}") and f"socket:[{row[9]}]" in inodes})


def test_the_limit_of_an_address_holds_in_the_api_worker_too(make_database: MakeDatabase) -> None:
    with one_host(
        make_database(), CONNECTIONS_PER_ADDRESS="5", API_CONCURRENCY="1", **LONG_TIMEOUTS
    ) as service:
        workers = service.workers()
        (api_worker,) = set(workers) - set(service.accepting())
        with unread_files(service, 30, lambda: held_by(api_worker, service.port)) as numbers:
            # One more than the limit while the worker closes a refused connection.
            assert 0 < max(numbers) <= 5 + 1
        assert service.workers() == workers


def test_unread_files_do_not_take_more_connections_than_the_limit(make_database: MakeDatabase) -> None:
    options = f"{LONG_TIMEOUTS['GUNICORN_CMD_ARGS']} --worker-connections 20"
    with one_host(
        make_database(), API_CONCURRENCY="1", **LONG_TIMEOUTS | {"GUNICORN_CMD_ARGS": options}
    ) as service:
        workers = service.workers()
        with unread_files(service, 80, lambda: held(service.port)) as numbers:
            assert max(numbers) <= 20 * len(workers)
            assert service.call("GET", "/api/domains").status == 401
        assert service.workers() == workers


def test_an_api_worker_keeps_half_as_many_connections_as_the_limit(make_database: MakeDatabase) -> None:
    """Each connection may send a file, which takes a second descriptor."""
    options = f"{LONG_TIMEOUTS['GUNICORN_CMD_ARGS']} --worker-connections {WORKER_CONNECTIONS}"
    with one_host(
        make_database(), API_CONCURRENCY="1", **LONG_TIMEOUTS | {"GUNICORN_CMD_ARGS": options}
    ) as service:
        workers = service.workers()
        (api_worker,) = set(workers) - set(service.accepting())
        with unread_files(
            service, 2 * WORKER_CONNECTIONS, lambda: held_by(api_worker, service.port)
        ) as numbers:
            assert WORKER_CONNECTIONS / 4 < max(numbers) <= WORKER_CONNECTIONS / 2
            assert service.call("GET", "/api/domains").status == 401
        assert service.workers() == workers


def _is_admitted(service: Service) -> bool:
    # Until the service has noticed that the others are closed, it may refuse this connection.
    with suppress(ConnectionError):
        return service.call("GET", "/healthz").status == 200
    return False


def _responds(connection: socket.socket) -> bool:
    try:
        return bool(connection.recv(65_536))
    except ConnectionResetError:
        return False


def test_too_few_open_files_are_refused_in_a_plain_sentence(
    make_service: Callable[..., Service], make_database: MakeDatabase
) -> None:
    service = make_service(DATABASE_URL=make_database(), SECRET_KEY=SECRET_KEY)
    service.launch("prlimit", "--nofile=256:256", sys.executable, "manage.py", "serve")

    assert service.exit_code() == 1
    assert "The limit of open files is 256, and the service needs at least 1024." in service.stderr
    assert "Traceback" not in service.stderr


def test_low_open_file_limit_is_raised_and_reported(
    make_service: Callable[..., Service], make_database: MakeDatabase
) -> None:
    service = make_service(DATABASE_URL=make_database(), SECRET_KEY=SECRET_KEY)
    service.launch("prlimit", "--nofile=1024:4096", sys.executable, "manage.py", "serve")
    eventually(service.is_healthy)

    assert "The limit of open files (4,096) lets each web worker keep 3,584 connections" in service.stderr
    limits = [(PROC / str(worker) / "limits").read_text() for worker in service.workers()]
    assert all("Max open files            4096                 4096" in text for text in limits)
    assert service.stop() == 0
