"""Clients that keep a service waiting, of every kind."""

from __future__ import annotations

import socket
from contextlib import suppress
from types import TracebackType
from typing import NamedTuple, Self

from tests.service.adversary.mutations import AGENT
from tests.service.processes import PROC


class Kind(NamedTuple):
    """What is said at once, and what follows byte by byte. ``leaves`` says no more after that."""

    said: bytes
    drips: bytes = b""
    leaves: bool = False


# As /proc/net/tcp says it.
_LISTENS = "0A"
_HEAD = b" HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: " + AGENT + b"\r\n"
_API = b"POST /api/urls" + _HEAD + b"Content-Type: application/json\r\nX-API-Key: %(key)s\r\n"
_GET = b"GET /%(code)s" + _HEAD
# %(code)s and %(key)s stand for those of the service.
KINDS = {
    "says nothing": Kind(b""),
    "drips a head": Kind(b"GET /", b"a" * 1000),
    "drips the head of a call": Kind(_API, b"X-Drip: " + b"a" * 1000),
    "stops in a head": Kind(_GET),
    "drips a body": Kind(_API + b"Content-Length: 1000\r\n\r\n{", b" " * 900),
    "stops in a body": Kind(_API + b"Content-Length: 1000\r\n\r\n{"),
    "drips a chunk": Kind(_API + b"Transfer-Encoding: chunked\r\n\r\n3e8\r\n{", b" " * 900),
    "drips chunks": Kind(_API + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n" * 200),
    "stops between two chunks": Kind(_API + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"),
    "drips a second head": Kind(_GET + b"\r\nGET /", b"a" * 1000),
    "drips a second head behind a call": Kind(b"GET /api/domains" + _HEAD + b"\r\nGET /", b"a" * 1000),
    "stops in a second body": Kind(
        _API + b"Content-Length: 2\r\n\r\n{}" + _API + b"Content-Length: 9\r\n\r\n{"
    ),
    "does not read": Kind((_GET + b"\r\n") * 50),
    "stops in a head for good": Kind(_GET, leaves=True),
    "has said all": Kind(_GET + b"\r\n", leaves=True),
}


class SlowClients:
    """So many, of all kinds in turn, on connections of their own."""

    def __init__(self, port: int, code: str, key: str, number: int) -> None:
        self._clients: list[tuple[socket.socket, bytes]] = []
        self._dripped = 0
        kinds = list(KINDS.values())
        for each in range(number):
            kind = kinds[each % len(kinds)]
            client = socket.socket()
            # Hardly anything fits into the buffers of who does not read.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            client.settimeout(60)
            client.connect(("127.0.0.1", port))
            client.sendall(kind.said.replace(b"%(code)s", code.encode()).replace(b"%(key)s", key.encode()))
            if kind.leaves:
                client.shutdown(socket.SHUT_WR)
            client.setblocking(False)
            self._clients.append((client, kind.drips))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client, _ in self._clients:
            client.close()

    def drip(self) -> None:
        """One byte more of each that has any."""
        for client, drips in self._clients:
            if drips:
                with suppress(OSError):
                    client.send(drips[self._dripped % len(drips) :][:1])
        self._dripped += 1


def held(port: int) -> int:
    """How many connections a process has that were accepted on this port."""
    rows = [line.split() for line in (PROC / "net/tcp").read_text().splitlines()[1:]]
    ours = [row for row in rows if row[1].endswith(f":{port:04X}")]
    # Those that the kernel ends by itself belong to no file any more.
    return sum(row[3] != _LISTENS and row[9] != "0" for row in ours)
