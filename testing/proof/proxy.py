"""A proxy between a drainer and PostgreSQL that cuts connections around a COMMIT."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SOCKET_NAME = ".s.PGSQL.5432"
_COMMIT = b"COMMIT\0"


class Proxy:
    """A proxy for Unix sockets that cuts a connection before a COMMIT is sent, after it, or after its response."""

    def __init__(self, server: Path, folder: Path, seed: int, cuts: int) -> None:
        self._server = server
        self._random = random.Random(seed)
        self._left = cuts
        self.cuts = 0
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / SOCKET_NAME))
        self._listener.listen()

    def serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self._server))
            threading.Thread(target=self._forward, args=(client, server), daemon=True).start()
            threading.Thread(target=_pump, args=(server, client), daemon=True).start()

    def close(self) -> None:
        # close() alone would not wake a blocked accept().
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        with client, server:
            with suppress(OSError):
                while data := client.recv(65536):
                    if _COMMIT in data and self._left > 0 and self._random.random() < 0.7:
                        self._left -= 1
                        self.cuts += 1
                        self._cut(client, server, data)
                        return
                    server.sendall(data)
            # Without this, the other thread would keep the connection open.
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)

    def _cut(self, client: socket.socket, server: socket.socket, data: bytes) -> None:
        # The client receives nothing more.
        client.shutdown(socket.SHUT_WR)
        moment = self._random.choice(["before", "after", "response"])
        if moment == "before":
            server.shutdown(socket.SHUT_RDWR)
            return
        server.sendall(data)
        server.shutdown(socket.SHUT_WR if moment == "response" else socket.SHUT_RDWR)


def _pump(server: socket.socket, client: socket.socket) -> None:
    with suppress(OSError):
        while data := server.recv(65536):
            with suppress(OSError):
                client.sendall(data)
    with suppress(OSError):
        client.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy(server: Path, folder: Path, seed: int, cuts: int) -> Iterator[Proxy]:
    running = Proxy(server, folder, seed, cuts)
    thread = threading.Thread(target=running.serve, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        running.close()
        thread.join()
