"""Following many links once each, and looking at every answer."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Mapping
from typing import Any

from bench.agents import agent

CONNECTIONS = 16
SECONDS = 60


def wrong_answers(port: int, host: str, links: Mapping[str, str]) -> list[str]:
    """Of those that do not answer 302 with their URL, by their codes: what they answer.

    One thread with bare sockets, each waiting for its answer: a hundred thousand take seconds.
    """
    waiting, left, wrong = selectors.DefaultSelector(), iter(links), []

    def ask(visitor: socket.socket) -> None:
        code = next(left, None)
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
        ask(visitor)
    while waiting.get_map():
        ready = waiting.select(timeout=SECONDS)
        if not ready:
            raise TimeoutError("The service does not answer.")
        for key, _ in ready:
            asking: Any = key.fileobj
            answer = asking.recv(65536)
            while answer and b"\r\n\r\n" not in answer:
                answer += asking.recv(65536)
            right = f"\r\nLocation: {links[key.data]}\r\n".encode()
            if not answer.startswith(b"HTTP/1.1 302 ") or right not in answer:
                wrong.append(f"/{key.data}: {answer[:300]!r}")
            if not answer or b"\r\nContent-Length: 0\r\n" not in answer:
                # A page may follow: what is left of it is not worth reading.
                waiting.unregister(asking)
                asking.close()
                asking = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
                waiting.register(asking, selectors.EVENT_READ)
            ask(asking)
    return wrong
