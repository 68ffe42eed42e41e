"""The service behind the real Caddy with the configuration in deploy/, and an authority of Caddy's own."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from shortener_project.embedded_postgres import EmbeddedPostgres
from tests.service.conftest import make_folder
from tests.service.running import REPOSITORY, Service, eventually, free_port

CADDY = shutil.which("caddy")
OWN, ACTIVE, PENDING = "sho.test", "go.customer.test", "claimed.customer.test"
OPTIONS = """
    local_certs
    skip_install_trust
    admin off
    auto_https disable_redirects
    https_port {port}
    storage file_system {folder}
"""

pytestmark = pytest.mark.skipif(CADDY is None, reason="NO CADDY: TLS IS NOT TRIED (apt-get install caddy)")


class Front(NamedTuple):
    service: Service
    port: int
    authority: Path

    def connect(self, host: str) -> ssl.SSLSocket:
        """As a browser does: the name is asked for and must be in the certificate."""
        context = ssl.create_default_context(cafile=self.authority)
        return context.wrap_socket(
            socket.create_connection(("127.0.0.1", self.port), 30), server_hostname=host
        )

    def get(self, host: str, path: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPSConnection(host, timeout=30)
        connection.sock = self.connect(host)
        connection.request("GET", path, headers={"User-Agent": "curl/8", "Connection": "close"})
        answer = connection.getresponse()
        answer.read()
        return answer


@pytest.fixture(scope="module")
def front() -> Iterator[Front]:
    service = Service(make_folder(), BASE_URL=f"https://{OWN}", TRUSTED_PROXIES="127.0.0.1/32")
    folder, port = make_folder(), free_port()
    caddy = None
    try:
        service.start()
        with (folder / "log").open("wb") as log:
            caddy = subprocess.Popen(
                [
                    str(CADDY),
                    "run",
                    "--adapter",
                    "caddyfile",
                    "--config",
                    str(REPOSITORY / "deploy" / "Caddyfile"),
                ],
                env={
                    "PATH": os.environ["PATH"],
                    "HOME": str(folder),
                    "UPSTREAM": f"127.0.0.1:{service.port}",
                    "CADDY_OPTIONS": OPTIONS.format(port=port, folder=folder),
                },
                stderr=log,
            )
        authority = folder / "pki" / "authorities" / "local" / "root.crt"
        eventually(lambda: caddy.poll() is not None or (authority.exists() and listens(port)))
        assert caddy.poll() is None, (folder / "log").read_text()
        yield Front(service, port, authority)
    finally:
        if caddy is not None:
            caddy.terminate()
            caddy.wait()
        service.end()
        shutil.rmtree(folder)


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def code(front: Front) -> str:
    """Of a link on the active domain."""
    owner = front.service.owner
    with psycopg.connect(EmbeddedPostgres(front.service.var_dir).url, autocommit=True) as database:
        for host, status in ((ACTIVE, "active"), (PENDING, "pending")):
            database.execute(
                "INSERT INTO domains_domain (public_id, owner_id, domain, host, status, token, failed_checks)"
                " SELECT gen_random_uuid(), id, 'customer.test', %s, %s, '', 0 FROM accounts_user",
                [host, status],
            )
        row = database.execute(
            "SELECT public_id::text FROM domains_domain WHERE host = %s", [ACTIVE]
        ).fetchone()
    assert row is not None
    link = front.service.ask(
        "POST",
        "/api/urls",
        {"originalUrl": "https://example.com/page", "domainId": row[0]},
        X_API_Key=owner.api_key,
        Host="127.0.0.1",
    ).json()["data"]["url"]
    assert link["shortUrl"] == f"https://{ACTIVE}/{link['shortCode']}"
    return link["shortCode"]


def test_an_active_domain_has_a_certificate_and_redirects_over_https(front: Front, code: str) -> None:
    answer = front.get(ACTIVE, f"/{code}")
    assert (answer.status, answer.headers["Location"]) == (302, "https://example.com/page")
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert answer.headers["Server"] is None
    assert front.get(OWN, "/healthz").status == 200
    assert front.get(OWN, f"/{code}").status == 404


@pytest.mark.parametrize("host", [PENDING, "unknown.test", f"sub.{ACTIVE}"])
def test_other_names_get_no_certificate(front: Front, code: str, host: str) -> None:
    with pytest.raises(ssl.SSLError):
        front.connect(host)


@pytest.mark.parametrize("path", [f"/internal/tls-allowed?domain={ACTIVE}", "/internal/", "/metrics"])
def test_what_is_for_those_inside_is_not_served_outside(front: Front, code: str, path: str) -> None:
    assert {front.get(host, path).status for host in (OWN, ACTIVE)} == {404}
