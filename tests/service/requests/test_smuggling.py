"""Request smuggling: messages of ambiguous length. Behind a proxy, the rest could prefix another request."""

from __future__ import annotations

import socket

import pytest

from testing.adversary.ambiguous import AMBIGUOUS
from testing.service.running import DEADLINE, Service

pytestmark = pytest.mark.slow

SECOND = b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: curl/8\r\n\r\n"


@pytest.fixture
def codes(service: Service, api_key: str) -> tuple[str, str]:
    """The codes of a requested link and of one that must not be requested."""
    first, second = (service.create_link(api_key)["shortCode"] for _ in range(2))
    return first, second


def responses(port: int, sent: bytes) -> list[bytes]:
    """The status of every response until the server closes the connection or stays silent."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        while chunk := connection.recv(65_536):
            received += chunk
    return [part[:3] for part in received.split(b"HTTP/1.1 ")[1:]]


@pytest.mark.parametrize("name", AMBIGUOUS)
@pytest.mark.parametrize("target", ["link", "api"])
def test_ambiguous_message_length_closes_the_connection(
    name: str, target: str, service: Service, codes: tuple[str, str]
) -> None:
    """ASVS 4.2.1"""
    lines, body = AMBIGUOUS[name]
    line = b"GET /%s HTTP/1.1" % codes[0].encode() if target == "link" else b"POST /api/urls HTTP/1.1"
    head = [line, b"Host: 127.0.0.1", b"User-Agent: curl/8", b"Content-Type: application/json", *lines]

    received = responses(service.port, b"\r\n".join([*head, b"", body]) + SECOND % codes[1].encode())

    assert len(received) == 1, received
    assert received[0] != b"302" or target == "link"
