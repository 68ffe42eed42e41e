"""Clients that are slow, stop in the middle, do not read or never leave: each waits for itself alone."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from tests.service.adversary.conversation import AGENT, led_to
from tests.service.adversary.slow import KINDS, SlowClients, held
from tests.service.hosts import one_host
from tests.service.running import DEADLINE, Connection, Service, eventually

# Of each kind.
SLOW = 40
LIMIT = 60
# Kept short, as a client that says nothing is waited for, too.
KEEP_ALIVE = 3
MANY = 5_000
REQUEST = b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: " + AGENT + b"\r\n"

MakeDatabase = Callable[[], str]


@pytest.fixture(scope="module")
def patient(make_database: MakeDatabase) -> Iterator[Service]:
    with one_host(make_database(), GUNICORN_CMD_ARGS=f"--keep-alive {KEEP_ALIVE}") as service:
        yield service


@pytest.fixture(scope="module")
def code(patient: Service) -> str:
    patient.create_link(
        patient.owner.api_key, originalUrl="https://example.com/patient", customCode="patient"
    )
    assert patient.ask("GET", "/patient").status == 302
    return "patient"


@pytest.fixture
def client(patient: Service) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", patient.port), DEADLINE) as connection:
        yield connection


def until_it_hangs_up(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65_536), b""))


@pytest.mark.timeout(300)
def test_slow_clients_hold_up_nobody_and_are_sent_away_in_time(patient: Service, code: str) -> None:
    workers = patient.workers()
    key = patient.owner.api_key
    with (
        SlowClients(patient.port, code, key, SLOW * len(KINDS)) as slow,
        closing(Connection(patient.port)) as kept,
    ):
        for number in range(100):
            slow.drip()
            assert kept.ask("GET", f"/{code}").status == 302
            assert patient.ask("GET", f"/{code}").status == 302
            if number % 5 == 0:
                assert patient.ask("GET", "/api/domains", X_API_Key=key).status == 200
                assert (
                    patient.ask("POST", "/api/urls", {"originalUrl": "nothing"}, X_API_Key=key).status == 400
                )
                assert patient.ask("GET", "/nobody-knows").status == 404

        def are_gone() -> bool:
            slow.drip()
            time.sleep(0.2)
            return held(patient.port) == 0

        kept.close()
        eventually(are_gone)

    assert patient.workers() == workers


def test_who_reads_slowly_gets_every_byte(patient: Service, code: str) -> None:
    """One after the other, each in a head of its own, while hardly an answer fits between the two."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        connection.settimeout(DEADLINE)
        connection.connect(("127.0.0.1", patient.port))
        heard = b""
        for _ in range(50):
            connection.sendall(REQUEST % code.encode() + b"\r\n")
            while not heard.endswith(b"\r\n\r\n"):
                heard += connection.recv(50)
            assert led_to(heard) == [code]
            heard = b""


def test_who_asks_for_thousands_and_reads_late_gets_them_all_in_one_piece(
    patient: Service, code: str
) -> None:
    """What the sockets do not take waits in the service, and no answer is torn."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(DEADLINE)
        connection.connect(("127.0.0.1", patient.port))
        last = REQUEST % code.encode() + b"Connection: close\r\n\r\n"
        sent, heard = 0, b""
        connection.setblocking(False)
        request = REQUEST % code.encode() + b"\r\n"
        asked = request * (MANY - 1) + last
        while sent < len(asked):
            try:
                sent += connection.send(asked[sent : sent + 100 * len(request)])
            except BlockingIOError:
                # It has to read something, or both would wait for each other.
                connection.settimeout(DEADLINE)
                heard += connection.recv(65_536)
                connection.setblocking(False)
        connection.settimeout(DEADLINE)
        heard += until_it_hangs_up(connection)

    assert led_to(heard) == [code] * MANY
    assert heard.count(b"HTTP/1.1 302 Found\r\n") == MANY
    assert heard.count(b"\r\nConnection: close\r\n") == 1


def test_a_large_answer_is_read_byte_by_byte_without_holding_up_redirects(
    patient: Service, code: str
) -> None:
    whole = patient.ask("GET", "/api/schema").body
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        connection.settimeout(DEADLINE)
        connection.connect(("127.0.0.1", patient.port))
        connection.sendall(b"GET /api/schema HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        heard = connection.recv(1)
        for _ in range(20):
            assert patient.ask("GET", f"/{code}").status == 302
        heard += until_it_hangs_up(connection)

    assert heard.partition(b"\r\n\r\n")[2] == whole


@pytest.mark.parametrize("asked", ["nothing", "a redirect", "the API"])
def test_a_silent_client_is_sent_away_after_the_time_of_keep_alive(
    client: socket.socket, code: str, asked: str
) -> None:
    path = {"a redirect": code, "the API": "api/domains"}.get(asked)
    if path:
        client.sendall(REQUEST % path.encode() + b"\r\n")

    heard = until_it_hangs_up(client)

    assert heard.count(b"HTTP/1.1 ") == (path is not None)
    assert b"\r\nConnection: close\r\n" not in heard


@pytest.mark.parametrize("path", ["patient", "nobody-knows", "api/domains"])
def test_who_has_said_all_is_answered(client: socket.socket, code: str, path: str) -> None:
    client.sendall(REQUEST % path.encode() + b"\r\n")
    client.shutdown(socket.SHUT_WR)

    heard = until_it_hangs_up(client)

    assert heard[9:12] == {"patient": b"302", "nobody-knows": b"404", "api/domains": b"401"}[path]


@pytest.mark.parametrize("path", ["patient", "nobody-knows", "api/schema"])
def test_who_asks_to_close_gets_the_whole_answer_and_an_end(
    client: socket.socket, code: str, path: str
) -> None:
    client.sendall(REQUEST % path.encode() + b"Connection: close\r\n\r\n")

    head, _, body = until_it_hangs_up(client).partition(b"\r\n\r\n")

    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert fields[b"connection"] == b"close"
    assert fields[b"content-length"] == b"%d" % len(body)


def test_who_goes_without_a_word_is_forgotten(patient: Service, code: str) -> None:
    """A reset, at any time: before an answer, in the middle of one, in the middle of a request."""
    for said in (
        b"",
        b"GET /",
        REQUEST % code.encode() + b"\r\n",
        b"GET /api/domains HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ):
        for _ in range(10):
            with socket.create_connection(("127.0.0.1", patient.port), DEADLINE) as connection:
                connection.sendall(said)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    assert patient.ask("GET", f"/{code}").status == 302
    assert patient.ask("GET", "/api/domains").status == 401
    assert "Traceback" not in patient.stderr, patient.stderr


@pytest.mark.parametrize("apart", ["1", "0"])
def test_no_more_are_taken_in_than_the_limit_and_the_next_when_one_leaves(
    make_database: MakeDatabase, apart: str
) -> None:
    options = f"--worker-connections {LIMIT} --keep-alive 60"
    with one_host(make_database(), GUNICORN_CMD_ARGS=options, API_CONCURRENCY=apart) as service:
        service.create_link(service.owner.api_key, customCode="limited")
        # Known from then on, so that no connection is on its way to another process and back.
        assert service.ask("GET", "/limited").status == 302
        with ExitStack() as opened:
            connections = [opened.enter_context(closing(Connection(service.port))) for _ in range(LIMIT)]
            for connection in connections:
                assert connection.ask("GET", "/limited").status == 302
            late = opened.enter_context(closing(Connection(service.port)))
            late.say("GET", "/limited")
            # A worker that took it in would answer at once; nothing says that it never will.
            for connection in connections * 3:
                assert connection.ask("GET", "/limited").status == 302
            assert select.select([late.sock], [], [], 0)[0] == []
            for connection in connections[:5]:
                connection.close()

            assert late.hear().status == 302
            for connection in connections[5:]:
                assert connection.ask("GET", "/limited").status == 302
