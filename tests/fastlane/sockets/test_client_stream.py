from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import pytest

from fastlane.sockets.outgoing import ClientStream, Incoming

HEAD = b"GET /spring HTTP/1.1\r\nX-Long: " + b"x" * 9_000 + b"\r\n\r\n"
MakeStream = Callable[[bytes], ClientStream]


@pytest.fixture
def make_stream() -> Iterator[MakeStream]:
    with socket.socket() as unused:
        yield lambda data: ClientStream(unused, Incoming(data, b"", 0.0))


def test_the_first_read_returns_the_whole_head(make_stream: MakeStream) -> None:
    stream = make_stream(HEAD + b"y" * 10_000)
    assert stream.recv(8192) == HEAD
    assert [len(stream.recv(8192)) for _ in range(3)] == [8192, 1808, 0]


def test_the_first_read_of_a_short_head_returns_a_part_of_the_body_too(make_stream: MakeStream) -> None:
    head = b"POST / HTTP/1.1\r\nContent-Length: 9000\r\n\r\n"
    stream = make_stream(head + b"y" * 9_000)
    assert stream.recv(8192) == head + b"y" * (8192 - len(head))
    assert stream.unread == b"y" * (9_000 - 8192 + len(head))


def test_the_first_read_returns_all_of_a_head_that_does_not_end(make_stream: MakeStream) -> None:
    stream = make_stream(HEAD[:-2])
    assert stream.recv(8192) == HEAD[:-2]
    assert stream.recv(8192) == b""
