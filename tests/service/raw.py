"""Requests as they are on the wire, header lines and all, and what comes back."""

from __future__ import annotations

import re
import socket
from typing import NamedTuple

from tests.conftest import FIREFOX
from tests.service.running import DEADLINE


class Raw(NamedTuple):
    status: int
    location: bytes | None
    body: bytes
    bytes: bytes


def send_raw(port: int, path: str, *lines: bytes, method: str = "GET", body: bytes = b"") -> Raw:
    """One request with these header lines, beside those that say who asks and that nothing follows."""
    head = [f"{method} {path} HTTP/1.1".encode(), *lines, b"User-Agent: " + FIREFOX.encode()]
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as connection:
        connection.sendall(b"\r\n".join([*head, b"Connection: close", b"", body]))
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    head_of_answer, _, body_of_answer = answer.partition(b"\r\n\r\n")
    location = re.search(rb"\r\n(?i:location): ([^\r]*)", head_of_answer)
    return Raw(int(answer[9:12]), location and location[1], body_of_answer, answer)
