"""Requests whose end two readers would see in two places. Behind a proxy, the second could be somebody else's."""

from __future__ import annotations

import socket

import pytest

from tests.service.adversary.ambiguous import AMBIGUOUS
from tests.service.running import DEADLINE, Service

SECOND = b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: curl/8\r\n\r\n"


@pytest.fixture
def codes(service: Service, api_key: str) -> tuple[str, str]:
    """Of a link that is asked for, and of one that nobody has asked for."""
    first, second = (service.create_link(api_key)["shortCode"] for _ in range(2))
    return first, second


def answers(port: int, sent: bytes) -> list[bytes]:
    """The status of every answer until the server hangs up, or has nothing more to say for a while."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        while chunk := connection.recv(65_536):
            received += chunk
    return [part[:3] for part in received.split(b"HTTP/1.1 ")[1:]]


@pytest.mark.parametrize("name", AMBIGUOUS)
@pytest.mark.parametrize("target", ["link", "api"])
def test_what_could_end_in_two_places_ends_the_connection(
    name: str, target: str, service: Service, codes: tuple[str, str]
) -> None:
    """ASVS 4.2.1"""
    lines, body = AMBIGUOUS[name]
    line = b"GET /%s HTTP/1.1" % codes[0].encode() if target == "link" else b"POST /api/urls HTTP/1.1"
    head = [line, b"Host: 127.0.0.1", b"User-Agent: curl/8", b"Content-Type: application/json", *lines]

    found = answers(service.port, b"\r\n".join([*head, b"", body]) + SECOND % codes[1].encode())

    assert len(found) == 1, found
    assert found[0] != b"302" or target == "link"
