"""The real Caddy with the configuration in deploy/ and Caddy's internal certificate authority."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

from testing.service.hosts import make_folder
from testing.service.running import DEADLINE, REPOSITORY, eventually, free_port, listens

OPTIONS = """
    local_certs
    skip_install_trust
    admin off
    auto_https disable_redirects
    https_port {port}
    storage file_system {folder}
"""


class Upstream(Protocol):
    """A running service. ``environment`` has its INTERNAL_LISTEN."""

    @property
    def address(self) -> str: ...

    @property
    def environment(self) -> Mapping[str, str]: ...


class Caddy(NamedTuple):
    port: int
    ask_port: int
    authority: Path

    def connect(self, host: str, *, source: str = "127.0.0.1") -> ssl.SSLSocket:
        """Connect like a browser: send the name with SNI and verify it in the certificate."""
        client = socket.create_connection(("127.0.0.1", self.port), DEADLINE, source_address=(source, 0))
        # As browsers do. Otherwise the first request waits until the server has acknowledged the handshake's end.
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return _context(self.authority).wrap_socket(client, server_hostname=host)

    def get(
        self, host: str, path: str, *, source: str = "127.0.0.1", **headers: str
    ) -> http.client.HTTPResponse:
        """``source``: the client's address, in 127.0.0.0/8."""
        connection = http.client.HTTPSConnection(host, timeout=DEADLINE)
        connection.sock = self.connect(host, source=source)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", path, headers={"User-Agent": "curl/8", "Connection": "close", **sent})
        response = connection.getresponse()
        response.read()
        return response


# Creating a context takes longer than many requests.
@lru_cache(maxsize=8)
def _context(authority: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=authority)


@contextmanager
def caddy_before(*services: Upstream, program: str) -> Iterator[Caddy]:
    folder, port, ask_port = make_folder(), free_port(), free_port()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                program,
                "run",
                "--adapter",
                "caddyfile",
                "--config",
                str(REPOSITORY / "deploy" / "Caddyfile"),
            ],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(folder),
                "UPSTREAM": " ".join(_upstream(service.address) for service in services),
                "INTERNAL_UPSTREAM": " ".join(
                    _upstream(service.environment["INTERNAL_LISTEN"]) for service in services
                ),
                "ASK_PORT": str(ask_port),
                "REQUEST_BUFFERING": _buffering(program),
                "CADDY_OPTIONS": OPTIONS.format(port=port, folder=folder),
            },
            stderr=log,
        )
    try:
        authority = folder / "pki" / "authorities" / "local" / "root.crt"
        eventually(lambda: process.poll() is not None or (authority.exists() and listens(port)))
        assert process.poll() is None, (folder / "log").read_text()
        yield Caddy(port, ask_port, authority)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


def _upstream(address: str) -> str:
    return f"unix/{address}" if address.startswith("/") else address


def _buffering(program: str) -> str:
    """The directive for request buffering, which has another name in old releases."""
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout
    major, minor = re.findall(r"\d+", version)[:2]
    return "request_buffers 256KiB" if (int(major), int(minor)) >= (2, 7) else "buffer_requests"
