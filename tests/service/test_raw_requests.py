"""A twentieth of what `make fuzz-requests` sends, always the same: whatever arrives, the service answers as stock
gunicorn would, and each connection gets the answers to its own requests.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.service.adversary.comparison import UNLIMITED, corpus_of, differences, stock_gunicorn
from tests.service.adversary.conversation import HANGS
from tests.service.adversary.mutations import attempts
from tests.service.adversary.proxy import confusions, haproxy_before
from tests.service.hosts import SECRET_KEY
from tests.service.running import Service

COUNT = 30_000 // 20

MakeService = Callable[..., Service]
MakeDatabase = Callable[[], str]


@pytest.fixture(params=["1", "0"], ids=["roles apart", "one process"])
def raw_service(
    request: pytest.FixtureRequest, make_service: MakeService, make_database: MakeDatabase
) -> Service:
    service = make_service(
        DATABASE_URL=make_database(), SECRET_KEY=SECRET_KEY, API_CONCURRENCY=request.param, **UNLIMITED
    )
    service.start()
    return service


@pytest.mark.timeout(600)
def test_every_answer_is_the_one_of_stock_gunicorn_and_no_confusion_comes_through_a_proxy(
    raw_service: Service, haproxy: str, tmp_path: Path
) -> None:
    corpus = corpus_of(raw_service, raw_service.owner.api_key)
    workers = raw_service.workers()
    with stock_gunicorn(raw_service) as stock:
        made = attempts(corpus, seed=len(workers), count=COUNT // 2)
        different = [str(each) for each in differences(raw_service.port, stock, corpus, made) if each]
    with haproxy_before(raw_service.port, tmp_path, haproxy) as proxy:
        made = attempts(corpus, seed=len(workers), count=COUNT // 5)
        confused = [each for each in confusions(proxy, corpus, made) if each]

    assert different == []
    assert confused == []
    assert raw_service.workers() == workers
    assert "Traceback" not in raw_service.stderr


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
def test_what_is_refused_already_is_not_waited_for(service: Service, beginning: bytes) -> None:
    with socket.create_connection(("127.0.0.1", service.port), HANGS) as connection:
        connection.sendall(beginning)

        assert connection.recv(65_536)[9:12] in (b"400", b"414", b"505")


@pytest.mark.parametrize("end", [0, 1, 2, 3, 20, 30, 40, -1])
def test_what_may_become_a_request_is_waited_for(service: Service, end: int) -> None:
    data = b"\r\nM-SEARCH /abc HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.port), HANGS) as connection:
        connection.sendall(data[:end])
        assert service.ask("GET", "/healthz").status == 200
        connection.sendall(data[end:])

        assert connection.recv(65_536)[9:12] == b"405"
