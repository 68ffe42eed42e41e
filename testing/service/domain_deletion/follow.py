"""Following many links once each and checking every response."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Mapping
from typing import Any

from testing.visitors.agents import agent

CONNECTIONS = 16
SECONDS = 240


def wrong_redirects(port: int, host: str, links: Mapping[str, str]) -> list[str]:
    """Responses other than a 302 to the expected URL, each with its code.

    Uses one thread and plain sockets: a hundred thousand links take seconds.
    """
    waiting, remaining, wrong = selectors.DefaultSelector(), iter(links), []

    def send_next(visitor: socket.socket) -> None:
        code = next(remaining, None)
        if code is None:
            waiting.unregister(visitor)
            visitor.close()
            return
        head = f"GET /{code} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent(1)}\r\nAccept: text/html\r\n\r\n"
        waiting.modify(visitor, selectors.EVENT_READ, code)
        visitor.sendall(head.encode())

    for _ in range(min(CONNECTIONS, len(links))):
        visitor = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        waiting.register(visitor, selectors.EVENT_READ)
        send_next(visitor)
    while waiting.get_map():
        ready = waiting.select(timeout=SECONDS)
        if not ready:
            raise TimeoutError("The service does not respond.")
        for key, _ in ready:
            visitor: Any = key.fileobj
            received = visitor.recv(65536)
            while received and b"\r\n\r\n" not in received:
                received += visitor.recv(65536)
            expected = f"\r\nLocation: {links[key.data]}\r\n".encode()
            if not received.startswith(b"HTTP/1.1 302 ") or expected not in received:
                wrong.append(f"/{key.data}: {received[:300]!r}")
            if not received or b"\r\nContent-Length: 0\r\n" not in received:
                # A page may follow: reconnect instead of reading the rest of it.
                waiting.unregister(visitor)
                visitor.close()
                visitor = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
                waiting.register(visitor, selectors.EVENT_READ)
            send_next(visitor)
    return wrong
