"""Sends requests with literal header lines and returns the raw response."""

from __future__ import annotations

import re
import socket
from typing import NamedTuple

from testing.service.running import DEADLINE
from testing.visitors.agents import FIREFOX


class Raw(NamedTuple):
    status: int
    location: bytes | None
    body: bytes
    bytes: bytes


def send_raw(
    port: int, path: str, *lines: bytes, method: str = "GET", body: bytes = b"", version: str = "1.1"
) -> Raw:
    """One request with these header lines, plus User-Agent and ``Connection: close``."""
    head = [f"{method} {path} HTTP/{version}".encode(), *lines, b"User-Agent: " + FIREFOX.encode()]
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as connection:
        connection.sendall(b"\r\n".join([*head, b"Connection: close", b"", body]))
        response = b"".join(iter(lambda: connection.recv(65_536), b""))
    response_head, _, response_body = response.partition(b"\r\n\r\n")
    location = re.search(rb"\r\n(?i:location): ([^\r]*)", response_head)
    return Raw(int(response[9:12]), location and location[1], response_body, response)
