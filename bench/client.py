"""What the clients of the benchmark send."""

from __future__ import annotations

import json
import selectors
import socket
import time
from typing import Any


def link_body(number: int) -> dict[str, Any]:
    return {
        "originalUrl": f"https://www.example.com/spring/sale/{number}?utm_source=newsletter",
        "title": f"Spring sale {number}",
        "tags": ["spring", "Newsletter"],
    }


def _request(key: str, number: int) -> bytes:
    body = json.dumps(link_body(number)).encode()
    head = (
        "POST /api/urls HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nContent-Type: application/json\r\n"
        f"X-API-Key: {key}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def created_per_second(port: int, key: str, clients: int, seconds: float, first: int) -> float:
    """The rate at which clients on kept connections, each waiting for its answer, create links.

    One thread with bare sockets, as the client shares the processors with what it measures.
    """
    waiting, number, count = selectors.DefaultSelector(), first, 0
    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(clients)]
    for connection in connections:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        waiting.register(connection, selectors.EVENT_READ)
        connection.sendall(_request(key, number))
        number += 1
    started = time.perf_counter()
    while (now := time.perf_counter()) - started < seconds:
        for selected, _ in waiting.select(timeout=1):
            client: Any = selected.fileobj
            answer = client.recv(65536)
            if not answer.startswith(b"HTTP/1.1 201"):
                raise RuntimeError(f"The service answered {answer[:300]!r}")
            while not answer.endswith(b"}"):
                answer += client.recv(65536)
            count += 1
            client.sendall(_request(key, number))
            number += 1
    for connection in connections:
        connection.recv(65536)
        connection.close()
    return count / (now - started)
