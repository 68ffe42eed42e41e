"""A fixed twentieth of the requests of `make fuzz-requests`: the service responds as stock gunicorn does, and each
connection receives the responses to its own requests.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.adversary.attempts import attempts
from testing.adversary.conversation import RESPONSE_TIMEOUT
from testing.fastlane.comparison import UNLIMITED, corpus_of, differences, stock_gunicorn
from testing.fastlane.proxy import haproxy_before, misrouted_responses
from testing.service.hosts import SECRET_KEY
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service

pytestmark = pytest.mark.slow

COUNT = 30_000 // 20

MakeService = Callable[..., Service]
MakeDatabase = Callable[[], str]


# API_CONCURRENCY and COMPILED_LOOP of services that share the requests.
PROCESSES = {
    "roles apart, compiled loop": ("1", "auto"),
    "one process, compiled loop": ("0", "auto"),
    "one process, Python loop": ("0", "off"),
}


@pytest.fixture(params=PROCESSES.values(), ids=PROCESSES)
def raw_service(
    request: pytest.FixtureRequest, make_service: MakeService, make_database: MakeDatabase
) -> Service:
    api, compiled = request.param
    service = make_service(
        DATABASE_URL=make_database(),
        SECRET_KEY=SECRET_KEY,
        API_CONCURRENCY=api,
        COMPILED_LOOP=compiled,
        **UNLIMITED,
        **LONG_TIMEOUTS,
    )
    service.start()
    return service


def test_responses_equal_those_of_stock_gunicorn_and_are_not_misrouted_by_a_proxy(
    raw_service: Service, haproxy: str, tmp_path: Path
) -> None:
    corpus = corpus_of(raw_service, raw_service.owner.api_key)
    workers = raw_service.workers()
    with stock_gunicorn(raw_service) as stock:
        requests = attempts(corpus, seed=len(workers), count=COUNT // 3)
        different = [
            str(difference)
            for difference in differences(raw_service.port, stock, corpus, requests)
            if difference
        ]
    with haproxy_before(raw_service.port, tmp_path, haproxy) as proxy:
        requests = attempts(corpus, seed=len(workers), count=COUNT * 2 // 15)
        confused = [misrouted for misrouted in misrouted_responses(proxy, corpus, requests) if misrouted]

    assert different == []
    assert confused == []
    assert "Traceback" not in raw_service.stderr
    assert raw_service.workers() == workers, raw_service.stderr


@pytest.mark.parametrize(
    "beginning",
    [
        b"GET /abc HTTP/1.1\n",
        b"GET /abc HTTP/1.1\r\nHost: 127.0.0.1\nX",
        b"GET /abc HTTP/1.1\r\nHost: 127.0.0.1\r\n\nX",
        b"GET  /abc HTTP/1.1\r\n",
        b"GET /abc\r\n",
        b"GET /abc HTTP/2.0\r\n",
        b"get /abc HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"\r\nGET /abc\xff HTTP/1.1\r\n",
        b"GET /" + b"a" * 8200,
        b"GET /" + b"a" * 8200 + b" HTTP/1.1\r\n",
    ],
)
def test_invalid_request_prefix_is_rejected_at_once(service: Service, beginning: bytes) -> None:
    with socket.create_connection(("127.0.0.1", service.port), RESPONSE_TIMEOUT) as connection:
        connection.sendall(beginning)

        response = connection.recv(65_536)
    assert response[9:12] in (b"400", b"414", b"505")
    assert b"\r\nX-Refusal-Reason: bad_request\r\n" in response


@pytest.mark.parametrize("end", [0, 1, 2, 3, 20, 30, 40, -1])
def test_valid_request_prefix_is_awaited(service: Service, end: int) -> None:
    data = b"\r\nM-SEARCH /abc HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.port), RESPONSE_TIMEOUT) as connection:
        connection.sendall(data[:end])
        assert service.call("GET", "/healthz").status == 200
        connection.sendall(data[end:])

        assert connection.recv(65_536)[9:12] == b"405"
