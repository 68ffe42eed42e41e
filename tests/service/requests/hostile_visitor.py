"""A visitor that sends request lines and headers as they are."""

from __future__ import annotations

import socket
from typing import NamedTuple

from testing.service.running import DEADLINE
from testing.visitors.agents import FIREFOX


class Response(NamedTuple):
    status: int
    headers: list[tuple[str, str]]

    @property
    def locations(self) -> list[str]:
        return [value for name, value in self.headers if name == "location"]


class Visitor:
    """One connection after the other, each used for as long as the server keeps it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.connection: socket.socket | None = None

    def call(self, target: str, *lines: str) -> Response:
        """``target`` is sent as it is, between the method and the version, in UTF-8."""
        head = [f"GET {target} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"User-Agent: {FIREFOX}", *lines]
        if self.connection is None:
            self.connection = socket.create_connection(("127.0.0.1", self.port), DEADLINE)
        self.connection.sendall("\r\n".join([*head, "", ""]).encode())
        response, closes = self._read(self.connection)
        if closes:
            self.close()
        return response

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    @staticmethod
    def _read(connection: socket.socket) -> tuple[Response, bool]:
        received = b""
        while b"\r\n\r\n" not in received:
            chunk = connection.recv(65_536)
            assert chunk, received
            received += chunk
        head, _, body = received.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        headers = [
            (name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)
        ]
        values = dict(headers)
        missing = int(values["content-length"]) - len(body)
        while missing > 0:
            missing -= len(connection.recv(missing))
        assert missing == 0, "A second response follows the first"
        return Response(int(status.split()[1]), headers), values.get("connection", "").lower() == "close"
