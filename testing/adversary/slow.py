"""All kinds of slow clients."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import NamedTuple, Self

from testing.adversary.attempts import AGENT
from testing.service.processes import PROC
from testing.service.running import DEADLINE


class Kind(NamedTuple):
    """The bytes sent at once, and the bytes that follow one by one. ``half_closes``: shut down the write side."""

    initial: bytes
    trickle: bytes = b""
    half_closes: bool = False


# The state LISTEN in /proc/net/tcp.
_LISTENS = "0A"
_HEAD = b" HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: " + AGENT + b"\r\n"
_API = b"POST /api/urls" + _HEAD + b"Content-Type: application/json\r\nX-API-Key: %(key)s\r\n"
_GET = b"GET /%(code)s" + _HEAD
_LOGIN = b"POST /api/auth/login" + _HEAD + b"Content-Type: application/json\r\n"
_FORM = _HEAD + b"Content-Type: application/x-www-form-urlencoded\r\n"
# 1.5 MB.
LARGE_FILE = b"/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"
# Placeholders: %(code)s and %(key)s.
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
    "awaits 100 Continue": Kind(
        _LOGIN + b"Expect: 100-continue\r\nContent-Length: 60000\r\n\r\n", b" " * 900
    ),
    "drips a long form": Kind(b"POST /%(code)s" + _FORM + b"Content-Length: 200000\r\n\r\n", b"a" * 900),
    "drips a long login form": Kind(
        b"POST /accounts/login/" + _FORM + b"Content-Length: 200000\r\n\r\n", b"a" * 900
    ),
    "drips many links": Kind(
        _API.replace(b"/api/urls", b"/api/urls/bulk") + b"Content-Length: 1000000\r\n\r\n{", b" " * 900
    ),
    "drips a long chunk": Kind(_LOGIN + b"Transfer-Encoding: chunked\r\n\r\nfffff\r\n{", b" " * 900),
    "announces a body and sends none": Kind(b"GET /api/domains" + _HEAD + b"Content-Length: 10\r\n\r\n"),
    "upgrades and announces a body": Kind(
        b"GET /%(code)s" + _HEAD + b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 10\r\n\r\n"
    ),
    "does not read large files": Kind((b"GET " + LARGE_FILE + _HEAD + b"\r\n") * 6),
    "stops in a head for good": Kind(_GET, half_closes=True),
    "has said all": Kind(_GET + b"\r\n", half_closes=True),
}


class SlowClients:
    """``number`` clients, cycling through ``kinds``, each on its own connection."""

    def __init__(
        self, port: int, code: str, key: str, number: int, kinds: Sequence[Kind] = tuple(KINDS.values())
    ) -> None:
        self._clients: list[tuple[socket.socket, bytes]] = []
        self._dripped = 0
        for index in range(number):
            kind = kinds[index % len(kinds)]
            client = socket.socket()
            # Minimise the buffers of clients that do not read.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            client.settimeout(DEADLINE)
            client.connect(("127.0.0.1", port))
            client.sendall(kind.initial.replace(b"%(code)s", code.encode()).replace(b"%(key)s", key.encode()))
            if kind.half_closes:
                client.shutdown(socket.SHUT_WR)
            client.setblocking(False)
            self._clients.append((client, kind.trickle))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client, _ in self._clients:
            client.close()

    def drip(self) -> None:
        """Send one more byte from each client that has any."""
        for client, trickle in self._clients:
            if trickle:
                with suppress(OSError):
                    client.send(trickle[self._dripped % len(trickle) :][:1])
        self._dripped += 1


def held(port: int) -> int:
    """Count the connections accepted on this port that a process still holds."""
    rows = [line.split() for line in (PROC / "net/tcp").read_text().splitlines()[1:]]
    sockets = [row for row in rows if row[1].endswith(f":{port:04X}")]
    # Connections that the kernel is closing have no inode. It may list one twice while others are opened.
    return len({row[9] for row in sockets if row[3] != _LISTENS and row[9] != "0"})
