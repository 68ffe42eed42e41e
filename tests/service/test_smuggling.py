"""Requests whose end two readers would see in two places. Behind a proxy, the second could be somebody else's."""

from __future__ import annotations

import socket

import pytest

from tests.service.running import DEADLINE, Service

SECOND = b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: curl/8\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked"
# Lines of a head, and what follows it before the second request.
AMBIGUOUS = {
    "both": ([b"Content-Length: 5", CHUNKED], b"0\r\n\r\n"),
    "both, the other way round": ([CHUNKED, b"Content-Length: 5"], b"0\r\n\r\n"),
    "both, and the length reaches far": ([b"Content-Length: 500", CHUNKED], b"0\r\n\r\n"),
    "both, and no length": ([b"Content-Length: 0", CHUNKED], b"0\r\n\r\n"),
    "two lengths": ([b"Content-Length: 0", b"Content-Length: 5"], b"abcde"),
    "a list of lengths": ([b"Content-Length: 0, 5"], b"abcde"),
    "a length with a sign": ([b"Content-Length: +5"], b"abcde"),
    "a negative length": ([b"Content-Length: -5"], b"abcde"),
    "a length in hexadecimal": ([b"Content-Length: 0x5"], b"abcde"),
    "a length with a fraction": ([b"Content-Length: 5.0"], b"abcde"),
    "a length in other digits": (["Content-Length: \u0665".encode()], b"abcde"),
    "a length with an underscore": ([b"Content-Length: 1_0"], b"abcdefghij"),
    "a length that is empty": ([b"Content-Length:"], b"abcde"),
    "a length that is a word": ([b"Content-Length: five"], b"abcde"),
    "a length beyond all numbers": ([b"Content-Length: " + b"9" * 40], b"abcde"),
    "a blank before the colon": ([b"Content-Length : 5"], b"abcde"),
    "a tab before the colon": ([b"Transfer-Encoding\t: chunked", b"Content-Length: 5"], b"0\r\n\r\n"),
    "a coding nobody knows": ([b"Transfer-Encoding: xchunked"], b"0\r\n\r\n"),
    "a coding behind chunked": ([b"Transfer-Encoding: chunked, identity"], b"0\r\n\r\n"),
    "chunked twice": ([b"Transfer-Encoding: chunked, chunked"], b"0\r\n\r\n"),
    "chunked on two lines": ([CHUNKED, CHUNKED], b"0\r\n\r\n"),
    "chunked with a parameter": ([b"Transfer-Encoding: chunked;q=0.5"], b"0\r\n\r\n"),
    "a vertical tab": ([b"Transfer-Encoding: \x0bchunked", b"Content-Length: 5"], b"0\r\n\r\n"),
    "a folded line": ([b"Transfer-Encoding:", b" chunked", b"Content-Length: 5"], b"0\r\n\r\n"),
    "a line without a colon": ([b"Transfer-Encoding chunked", b"Content-Length: 5"], b"0\r\n\r\n"),
    "a name with a blank": ([b"X Transfer-Encoding: chunked", b"Content-Length: 5"], b"0\r\n\r\n"),
    "a bare carriage return": ([b"X: y\rTransfer-Encoding: chunked", b"Content-Length: 5"], b"0\r\n\r\n"),
    "a NUL": ([b"Transfer-Encoding: chunked\x00", b"Content-Length: 5"], b"0\r\n\r\n"),
    "a chunk of no size": ([CHUNKED], b"x\r\n\r\n"),
    "a chunk of a negative size": ([CHUNKED], b"-1\r\n\r\n"),
    "a chunk size in two spellings": ([CHUNKED], b"0x0\r\n\r\n"),
    "a chunk that is longer than it says": ([CHUNKED], b"1\r\nabcde\r\n0\r\n\r\n"),
}  # fmt: skip


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

    # What is no chunk is refused once the head has been answered, and nothing behind it is read.
    assert found[1:] in ([], [b"400"]), found
    assert found[0] != b"302" or target == "link"
