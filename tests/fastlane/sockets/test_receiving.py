"""Detection of complete requests, the fair queue and the handoff queue."""

from __future__ import annotations

import socket
import time
from typing import Any

from gunicorn.config import Config
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader
from hypothesis import given
from hypothesis import strategies as st

from fastlane.handoff.between_processes import Handoff, HandoffQueue
from fastlane.handoff.request_queue import FairQueue
from fastlane.sockets.incoming import MAX_BODY, ChunkScanner
from fastlane.sockets.outgoing import Incoming
from links.bulk.serializers import ImportParser
from qrcodes.serializers import LogoParser

HEAD = b"POST / HTTP/1.1\r\nHost: sho.rt\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDS = st.sampled_from([b"", b"X: y\r\n"])


@given(st.lists(st.binary(min_size=1, max_size=40)), ENDS, st.binary(max_size=20), st.booleans())
def test_the_scanner_and_gunicorn_agree_on_the_end_of_chunks(
    chunks: list[bytes], trailers: bytes, rest: bytes, has_extension: bool
) -> None:
    extension = b";a=b" if has_extension else b""
    body = b"".join(b"%x%s\r\n%s\r\n" % (len(chunk), extension, chunk) for chunk in chunks)
    body += b"0\r\n" + trailers + b"\r\n"

    request = Request(Config(), IterUnreader([HEAD + body]), ("127.0.0.1", 1), 1)
    assert request.body.read() == b"".join(chunks)

    buffer = bytearray(HEAD)
    scanner = ChunkScanner(buffer, len(HEAD))
    complete = []
    for number in range(len(body)):
        buffer += body[number : number + 1]
        complete.append(scanner.scan())
    assert complete == [False] * (len(body) - 1) + [True]
    at_once = ChunkScanner(bytearray(HEAD + body + rest), len(HEAD))
    assert at_once.scan()


def test_max_body_covers_every_endpoint() -> None:
    assert max(ImportParser.max_bytes, LogoParser.max_bytes) <= MAX_BODY


def handoff(address: str, data: bytes, since: float) -> Handoff:
    sock, other = socket.socketpair()
    other.close()
    return Handoff(sock, (address, 40000), ("127.0.0.1", 8000), Incoming(data, b"", since))


def close(handoff: Handoff) -> bytes:
    """Close the sockets, and return the bytes read of the request."""
    handoff.sock.close()
    return handoff.incoming.data


def test_networks_are_served_in_round_robin_order() -> None:
    queue = FairQueue()
    now = time.monotonic()
    for name in (b"a1", b"a2", b"a3"):
        queue.add(handoff("192.0.2.1", name, now))
    queue.add(handoff("198.51.100.1", b"b1", now))

    order = []
    while queue:
        assert queue.first().incoming.size == 2
        order.append(close(queue.pop()))
    assert order == [b"a1", b"b1", b"a2", b"a3"]
    assert queue.held == 0


def test_expired_requests_leave_the_queue() -> None:
    queue = FairQueue()
    now = time.monotonic()
    queue.add(handoff("192.0.2.1", b"old", now - 100))
    queue.add(handoff("192.0.2.1", b"new", now))

    assert [close(handoff) for handoff in queue.expired(50)] == [b"old"]
    assert close(queue.pop()) == b"new"
    assert not queue


def test_a_handoff_preserves_requests_of_any_length() -> None:
    queue = HandoffQueue()
    for size in (0, 2_000, 3_000, 5_000_000):
        sent = handoff("192.0.2.1", b"x" * size, 1.5)
        incoming = sent.incoming._replace(rest=b"rest", sent_continue=True)
        queue.put(sent._replace(incoming=incoming))
        received: Any = queue.take()
        assert received.incoming == incoming
        assert received.client == ("192.0.2.1", 40000)
        received.sock.close()
    for end in (queue.write_end, queue.read_end):
        end.close()
