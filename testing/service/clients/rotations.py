"""Repeated API key rotation, with calls using each old key and each new key on every connection."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from testing.service.running import Connection

WORKERS = 4
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)


class StatusCounts(NamedTuple):
    """Number of responses by status, for the old and the new key."""

    old: Counter[int]
    new: Counter[int]


def rotations(connections: Sequence[Connection], token: str, calls: Sequence[int]) -> StatusCounts:
    """One rotation per item of ``calls``, each followed by that many calls with the old key over all connections."""
    counts = StatusCounts(Counter(), Counter())
    old = _rotate(connections[0], token)
    for number, count in enumerate(calls):
        new = _rotate(connections[number % len(connections)], token)
        for _ in range(-(-count // len(connections))):
            counts.old.update(_concurrent_statuses(connections, old))
        counts.new.update(_concurrent_statuses(connections, new))
        old = new
    return counts


def _rotate(connection: Connection, token: str) -> str:
    response = connection.call("POST", "/api/auth/regenerate-api-key", Authorization=f"Bearer {token}")
    key: str = response.json()["apiKey"]
    return key


def _concurrent_statuses(connections: Sequence[Connection], key: str) -> list[int]:
    # Plain bytes: the standard library's client takes longer to send a request than the service to process it.
    request = (
        "GET /api/urls/domains/available HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: curl/8.5.0\r\n"
        f"X-API-Key: {key}\r\n\r\n"
    )
    for connection in connections:
        connection.sock.sendall(request.encode())
    return [_status(connection) for connection in connections]


def _status(connection: Connection) -> int:
    """The status of one response, read to its end."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    length = _LENGTH.search(head + b"\r\n")
    missing = int(length[1] if length else 0) - len(body)
    while missing > 0:
        missing -= len(_more(connection))
    return int(head.split(b" ", 2)[1])


def _more(connection: Connection) -> bytes:
    chunk: bytes = connection.sock.recv(65_536)
    if not chunk:
        raise ConnectionError("The service closed a connection.")
    return chunk
