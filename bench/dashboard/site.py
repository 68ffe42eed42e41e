"""The service behind Caddy with the configuration in deploy/, as in production: browsers use HTTP/2 over TLS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from bench.harness.running import served
from testing.programs import program
from testing.service.caddy import caddy_before
from testing.service.running import free_port

HOST = "go.example.com"
# Chromium connects to this machine and accepts the certificate of its own authority.
CHROMIUM_ARGUMENTS = (f"--host-resolver-rules=MAP {HOST} 127.0.0.1", "--ignore-certificate-errors")


class Upstream(NamedTuple):
    address: str
    environment: dict[str, str]


class Site(NamedTuple):
    """``port`` is that of the service itself."""

    address: str
    port: int


@contextmanager
def site_over_tls() -> Iterator[Site]:
    environment = {
        "BASE_URL": f"https://{HOST}",
        "TRUSTED_PROXIES": "127.0.0.1/32",
        "INTERNAL_LISTEN": f"127.0.0.1:{free_port()}",
    }
    with served(**environment) as (port, _):
        upstream = Upstream(f"127.0.0.1:{port}", environment)
        with caddy_before(upstream, program=program("caddy")) as caddy:
            yield Site(f"https://{HOST}:{caddy.port}", port)
