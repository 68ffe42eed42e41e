"""A service that listens on a Unix socket instead of a port."""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path
from typing import Any

from testing.polling import DEADLINE
from testing.service.connection import Connection, Response
from testing.service.running import Service


class UnixConnection(Connection):
    def __init__(self, path: str) -> None:
        super().__init__(0)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(DEADLINE)
        self.sock.connect(self._path)


class SocketService(Service):
    """``sockets`` is the folder of its two sockets."""

    def __init__(self, folder: Path, sockets: Path, **environment: str) -> None:
        addresses = {"HOST": str(sockets / "http.sock"), "INTERNAL_LISTEN": str(sockets / "internal.sock")}
        super().__init__(folder, **{**environment, **addresses})

    @property
    def address(self) -> str:
        return self.environment["HOST"]

    def has_all_workers(self) -> bool:
        return len(self.workers()) == 2

    def _serves(self) -> bool:
        return Path(self.address).exists() and super()._serves()

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        with closing(UnixConnection(self.address)) as connection:
            return connection.call(method, path, body, **headers)

    def call_internal(self, path: str) -> Response:
        with closing(UnixConnection(self.environment["INTERNAL_LISTEN"])) as connection:
            return connection.call("GET", path)
