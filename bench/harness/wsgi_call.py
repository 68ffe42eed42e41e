"""Requests through the whole WSGI stack in this process, without a socket."""

from __future__ import annotations

import io
import json
import time
from typing import Any
from urllib.parse import urlencode

from shortener_project.wsgi import application


class Caller:
    """An API client. Every call returns (status, body, seconds)."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.headers: dict[str, str] = {}

    def get(self, path: str, **query: Any) -> tuple[int, dict[str, Any], float]:
        return self._call("GET", path, urlencode(query), b"")

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any], float]:
        return self._call("POST", path, "", json.dumps(body).encode())

    def _call(self, method: str, path: str, query: str, body: bytes) -> tuple[int, dict[str, Any], float]:
        environ = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "8000",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_HOST": "127.0.0.1:8000",
            "HTTP_X_API_KEY": self.key,
            **self.headers,
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": io.StringIO(),
        }
        statuses: list[str] = []
        started = time.perf_counter()
        response = application(environ, lambda status, headers: statuses.append(status))
        content = b"".join(response)
        response.close()
        seconds = time.perf_counter() - started
        return int(statuses[0][:3]), json.loads(content), seconds
