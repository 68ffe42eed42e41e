"""A client of the service that keeps its connection open."""

from __future__ import annotations

import http.client
import json
import socket
import time
from math import inf
from typing import Any, NamedTuple

from testing.polling import DEADLINE
from testing.visitors.agents import FIREFOX


class Response(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Connection(http.client.HTTPConnection):
    """A keep-alive connection. Separate `send_request` and `receive` allow concurrent requests."""

    def __init__(self, port: int) -> None:
        super().__init__("127.0.0.1", port, timeout=DEADLINE)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        self.send_request(method, path, body, **headers)
        return self.receive()

    def send_request(self, method: str, path: str, body: Any = None, **headers: str) -> None:
        sent = {"User-Agent": FIREFOX} | {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            sent["Content-Type"] = "application/json"
        self.request(method, path, None if body is None else json.dumps(body), sent)

    def receive(self) -> Response:
        response = self.getresponse()
        return Response(response.status, response.headers, response.read())

    def connect_for_later(self) -> None:
        """Connect and complete a request, so that the next one has 75 seconds. A new connection has only 10 seconds
        until its first byte, and a busy machine may stop this process for longer.
        """
        assert self.call("GET", "/healthz").status == 200


class ReusedConnection(Connection):
    """A keep-alive connection whose `follow` treats a closed connection as RFC 9112, section 9.3.1, requires."""

    # A stopping worker closes connections that have been idle for two seconds.
    MAX_IDLE_SECONDS = 1.5
    # Until it is connected, it is not idle.
    _idle_since = inf

    def connect(self) -> None:
        super().connect()
        self._idle_since = time.monotonic()

    def close(self) -> None:
        super().close()
        self._idle_since = inf

    def follow(self, path: str) -> Response:
        """GET. If the connection fails and was idle for so long that the service may have closed it, send the request
        again on another one. Only a stop of this process makes it idle for that long.
        """
        sent_at: float | None = None
        try:
            self.send_request("GET", path)
            sent_at = time.monotonic()
            response = self.receive()
        except (OSError, http.client.HTTPException):
            was_idle = (sent_at or time.monotonic()) - self._idle_since > self.MAX_IDLE_SECONDS
            self.close()
            if not was_idle:
                raise
            return self.follow(path)
        self._idle_since = time.monotonic()
        return response


def read_to_end(connection: socket.socket) -> bytes:
    """All bytes until the peer closes the connection."""
    return b"".join(iter(lambda: connection.recv(65_536), b""))
