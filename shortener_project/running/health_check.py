"""The health check of the image: exits with 0 if the web server responds.

It does not import Django, because it runs every few seconds.
"""

from __future__ import annotations

import http.client
import os
import socket
import sys

TIMEOUT_SECONDS = 3


class Connection(http.client.HTTPConnection):
    """Connects to HOST if that is a Unix socket, and otherwise to PORT on the loopback interface."""

    def __init__(self) -> None:
        super().__init__("127.0.0.1", int(os.environ.get("PORT", "8000")), timeout=TIMEOUT_SECONDS)

    def connect(self) -> None:
        path = os.environ.get("HOST", "")
        if path.startswith("/"):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(TIMEOUT_SECONDS)
            self.sock.connect(path)
        else:
            super().connect()


def is_healthy() -> bool:
    connection = Connection()
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(not is_healthy())
