"""A network above its limit of unknown codes still reaches the links that it has followed, at the real service."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from testing.adversary.conversation import AGENT
from testing.service.hosts import one_host, stopped
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import DEADLINE, Connection, Service, eventually

pytestmark = pytest.mark.slow

LINKS = 20
# A minute passes until the limit grants another guess.
LIMIT = 1
OTHER = "198.51.100.5"
CODES = [f"known{number}" for number in range(LINKS + 1)]


@pytest.fixture(scope="module")
def service(make_database: Callable[[], str]) -> Iterator[Service]:
    options = {"UNKNOWN_CODE_LIMIT": str(LIMIT), "TRUSTED_PROXIES": "127.0.0.1/32", **LONG_TIMEOUTS}
    with one_host(make_database(), **options) as service:
        for code in CODES:
            service.create_link(service.owner.api_key, customCode=code)
        yield service


def pipelined(service: Service, codes: list[str], address: str) -> list[int]:
    """The statuses of these requests, sent in one piece on one connection."""
    head = b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: " + AGENT + b"\r\nX-Forwarded-For: %s\r\n"
    requests = [head % (code.encode(), address.encode()) for code in codes]
    with socket.create_connection(("127.0.0.1", service.port), DEADLINE) as connection:
        connection.sendall(b"\r\n".join(requests) + b"Connection: close\r\n\r\n")
        received = b"".join(iter(lambda: connection.recv(65_536), b""))
    return [int(part[:3]) for part in received.split(b"HTTP/1.1 ")[1:]]


def simultaneous(service: Service, codes: list[str], address: str) -> list[int]:
    """The statuses of these requests, each sent on a separate connection while the worker is stopped."""
    with ExitStack() as opened:
        connections = [opened.enter_context(closing(Connection(service.port))) for _ in codes]
        for connection in connections:
            assert connection.call("GET", f"/{codes[0]}", X_Forwarded_For=OTHER).status == 302
        with stopped(service.accepting()):
            for code, connection in zip(codes, connections, strict=True):
                connection.send_request("GET", f"/{code}", X_Forwarded_For=address)
        return [connection.receive().status for connection in connections]


@pytest.mark.parametrize(("follow", "guesser"), [(pipelined, "203.0.113.5"), (simultaneous, "192.0.2.5")])
def test_every_link_that_was_followed_at_once_is_still_followed_above_the_limit(
    service: Service, follow: Callable[[Service, list[str], str], list[int]], guesser: str
) -> None:
    followed, other = CODES[:LINKS], CODES[LINKS]
    # The worker caches every link, and serves all of them in one iteration of its event loop.
    assert pipelined(service, CODES, OTHER) == [302] * len(CODES)
    assert follow(service, followed, guesser) == [302] * LINKS
    eventually(lambda: service.call("GET", "/guess", X_Forwarded_For=guesser).status == 429)

    assert pipelined(service, followed, guesser) == [302] * LINKS
    assert service.call("GET", f"/{other}", X_Forwarded_For=guesser).status == 429
    assert service.call("GET", f"/{other}", X_Forwarded_For=OTHER).status == 302
