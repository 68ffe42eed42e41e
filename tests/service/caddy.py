"""The real Caddy with the configuration in deploy/, and an authority of Caddy's own."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.service.hosts import make_folder
from tests.service.running import DEADLINE, REPOSITORY, Service, eventually, free_port, listens

OPTIONS = """
    local_certs
    skip_install_trust
    admin off
    auto_https disable_redirects
    https_port {port}
    storage file_system {folder}
"""


class Caddy(NamedTuple):
    port: int
    ask_port: int
    authority: Path

    def connect(self, host: str) -> ssl.SSLSocket:
        """As a browser does: the name is asked for and must be in the certificate."""
        context = ssl.create_default_context(cafile=self.authority)
        return context.wrap_socket(
            socket.create_connection(("127.0.0.1", self.port), DEADLINE), server_hostname=host
        )

    def get(self, host: str, path: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPSConnection(host, timeout=DEADLINE)
        connection.sock = self.connect(host)
        connection.request("GET", path, headers={"User-Agent": "curl/8", "Connection": "close"})
        answer = connection.getresponse()
        answer.read()
        return answer


@contextmanager
def caddy_before(*services: Service, program: str) -> Iterator[Caddy]:
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
                "UPSTREAM": " ".join(f"127.0.0.1:{service.port}" for service in services),
                "ASK_PORT": str(ask_port),
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
        process.terminate()
        process.wait()
        shutil.rmtree(folder)
