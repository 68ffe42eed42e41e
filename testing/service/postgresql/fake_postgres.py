"""A minimal PostgreSQL server that has a version and no functions: protocol 3.0, unencrypted, no password."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SSL_REQUEST, _GSS_REQUEST = 80877103, 80877104


@contextmanager
def fake_postgres(version: str) -> Iterator[int]:
    """Yields the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve, args=(listener, version))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(listener: socket.socket, version: str) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        with client, client.makefile("rb") as stream:
            _talk(client, stream.read, version)


def _talk(client: socket.socket, read: Callable[[int], bytes], version: str) -> None:
    while True:
        (length,) = struct.unpack("!I", read(4))
        (request,) = struct.unpack("!I", read(length - 4)[:4])
        if request not in (_SSL_REQUEST, _GSS_REQUEST):
            break
        client.sendall(b"N")
    parameters = {
        "server_version": version,
        "server_encoding": "UTF8",
        "client_encoding": "UTF8",
        "standard_conforming_strings": "on",
        "integer_datetimes": "on",
        "DateStyle": "ISO, MDY",
        "TimeZone": "UTC",
    }
    reply = _message(b"R", struct.pack("!I", 0))
    for name, value in parameters.items():
        reply += _message(b"S", f"{name}\0{value}\0".encode())
    client.sendall(reply + _message(b"K", struct.pack("!II", 1, 1)) + _message(b"Z", b"I"))
    unknown = b"SERROR\0VERROR\0C42883\0Mfunction does not exist\0\0"
    while kind := read(1):
        (length,) = struct.unpack("!I", read(4))
        read(length - 4)
        if kind == b"Q":
            client.sendall(_message(b"E", unknown) + _message(b"Z", b"I"))


def _message(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack("!I", len(content) + 4) + content
