"""A client of the installation, which keeps its connection and gives up after some seconds."""

from __future__ import annotations

import http.client
from collections import Counter
from http import HTTPStatus
from typing import Any

from testing.service.connection import Connection, Response

HOST = "sho.test"
NO_ANSWER = (OSError, http.client.HTTPException)

# How often the service has failed with 500, which no fault excuses, by method and kind of path.
failures: Counter[str] = Counter()


class Client(Connection):
    def __init__(self, address: str, port: int, seconds: float) -> None:
        http.client.HTTPConnection.__init__(self, address, port, timeout=seconds)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        """Raises one of NO_ANSWER; the next call opens another connection."""
        try:
            response = super().call(method, path, body, Host=HOST, **headers)
        except NO_ANSWER:
            self.close()
            raise
        if response.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            failures[f"{method} {'/'.join(path.split('/')[:3])}"] += 1
        return response


def outcome_of(response: Response) -> str:
    """ "ok" of a success or a redirect; otherwise the status and whether the service gave it."""
    if response.status < 400:
        return "ok"
    by = (
        "" if response.headers.get("X-Request-Id") or response.headers.get("Retry-After") else " of the proxy"
    )
    return f"{response.status}{by}"
