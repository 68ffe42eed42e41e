"""A server that answers as a test says, one answer per connection, and remembers what it was sent."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

# Close the connection instead of answering.
DROP = None


class Request(NamedTuple):
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]


class Answer(NamedTuple):
    """``body``: an object is sent as JSON, a text as HTML."""

    status: int
    body: Any
    headers: dict[str, str] = {}

    def encoded(self) -> bytes:
        is_page = isinstance(self.body, str)
        body = (self.body if is_page else json.dumps(self.body)).encode()
        headers = {
            "Content-Type": "text/html" if is_page else "application/json",
            "Content-Length": str(len(body)),
            "Connection": "close",
            **self.headers,
        }
        lines = [f"HTTP/1.1 {self.status} Reason", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + body


class Scripted(NamedTuple):
    url: str
    requests: list[Request]


@contextmanager
def scripted(answers: list[Answer | None]) -> Iterator[Scripted]:
    """After the last answer, it drops every connection."""
    requests: list[Request] = []
    remaining = iter(answers)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection, connection.makefile("rb") as stream:
                    requests.append(_read(stream))
                    answer = next(remaining, DROP)
                    if answer is not DROP:
                        connection.sendall(answer.encoded())

        thread = Thread(target=serve)
        thread.start()
        try:
            yield Scripted(f"http://127.0.0.1:{listener.getsockname()[1]}", requests)
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _read(stream: Any) -> Request:
    method, target, _ = stream.readline().decode().split()
    headers = {}
    while line := stream.readline().decode().strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    stream.read(int(headers.get("content-length", 0)))
    parts = urlsplit(target)
    return Request(method, parts.path, dict(parse_qsl(parts.query)), headers)
