"""TCP servers on the loopback interface that answer as a test says."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread

_TLS_HANDSHAKE = 0x16
# Writes the answer. It gets the connection, the head of the request, and an event that ends the server.
Manner = Callable[[socket.socket, bytes, Event], None]


@dataclass
class RawServer:
    """``manner`` may change. ``connections`` counts them, ``requests`` has the head and body of each as they came."""

    port: int
    manner: Manner
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    # The names that clients asked for in TLS.
    names: list[str | None] = field(default_factory=list)


def answering(status: str = "200 OK", *headers: str, body: bytes = b"") -> Manner:
    """Answers correctly."""
    head = "\r\n".join((f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""))
    return sending(head.encode() + body)


def sending(content: bytes) -> Manner:
    """Sends these bytes and closes the connection."""

    def answer(connection: socket.socket, head: bytes, stop: Event) -> None:
        connection.sendall(content)

    return answer


def dripping(start: bytes, piece: bytes = b" ", every: float = 0.02) -> Manner:
    """Sends ``start``, and then a piece now and then, without end."""

    def answer(connection: socket.socket, head: bytes, stop: Event) -> None:
        connection.sendall(start)
        while not stop.wait(every):
            connection.sendall(piece)

    return answer


def flooding(start: bytes, piece: bytes) -> Manner:
    """Sends ``start``, and then pieces as fast as the client takes them."""

    def answer(connection: socket.socket, head: bytes, stop: Event) -> None:
        connection.sendall(start)
        while not stop.is_set():
            connection.sendall(piece)

    return answer


def silent(connection: socket.socket, head: bytes, stop: Event) -> None:
    stop.wait()


@contextmanager
def raw_server(
    manner: Manner, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> Iterator[RawServer]:
    listener = socket.create_server((host, 0), backlog=64)
    listener.settimeout(0.05)
    server, stop = RawServer(listener.getsockname()[1], manner), Event()
    if tls is not None:
        tls.sni_callback = lambda _socket, name, _context: server.names.append(name)

    def talk(connection: socket.socket) -> None:
        with suppress(OSError):
            connection.settimeout(60)
            secured = connection if tls is None else tls.wrap_socket(connection, server_side=True)
            with secured:
                request = _request(secured)
                server.requests.append(request)
                if request:
                    server.manner(secured, request, stop)
        connection.close()

    def accept() -> None:
        while not stop.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            server.connections += 1
            threads.append(Thread(target=talk, args=(connection,), daemon=True))
            threads[-1].start()

    threads = [Thread(target=accept, daemon=True)]
    threads[0].start()
    try:
        yield server
    finally:
        stop.set()
        threads[0].join()
        listener.close()
        for thread in threads[1:]:
            thread.join(5)


def _request(connection: socket.socket) -> bytes:
    """The head, and the body if it has a length. Empty if the client has left or speaks TLS."""
    content = b""
    while b"\r\n\r\n" not in content:
        piece = connection.recv(65536)
        if not piece or piece[0] == _TLS_HANDSHAKE:
            return b""
        content += piece
    head, _, body = content.partition(b"\r\n\r\n")
    [length] = [
        line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
    ] or [b"0"]
    while len(body) < int(length):
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
