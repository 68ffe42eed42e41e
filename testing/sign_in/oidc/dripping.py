"""A provider whose answers take for ever: a byte now and then, so that no read of them times out."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue

DESCRIPTION = "/.well-known/openid-configuration"
SECONDS = 0.05
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


class DrippingProvider(ThreadingHTTPServer):
    """``drips_description``: also its first answer, not only the token. ``in_head``: even the head never ends.

    ``reached`` has the path of each request. Once ``ended`` is set, answers break off.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        self.drips_description = True
        self.in_head = False
        self.reached: Queue[str] = Queue()
        self.ended = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    server: DrippingProvider

    def do_GET(self) -> None:
        self.server.reached.put(self.path)
        if self.path == DESCRIPTION and not self.server.drips_description:
            self.wfile.write(_HEAD + b"\r\n" + json.dumps(self._description()).encode())
        else:
            self._drip()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *args: object) -> None:
        pass

    def _description(self) -> dict[str, str]:
        issuer = self.server.issuer
        return {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/authorize",
            "token_endpoint": f"{issuer}/token",
            "userinfo_endpoint": f"{issuer}/userinfo",
            "jwks_uri": f"{issuer}/keys",
        }

    def _drip(self) -> None:
        try:
            self.wfile.write(
                _HEAD + (b"X-Slow: " if self.server.in_head else b"Content-Length: 1000000\r\n\r\n")
            )
            while not self.server.ended.wait(SECONDS):
                self.wfile.write(b" ")
        except OSError:
            # The client has gone.
            pass


@contextmanager
def dripping_provider() -> Iterator[DrippingProvider]:
    with DrippingProvider() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            server.shutdown()
            thread.join()
