"""The service behind the real Caddy with the configuration in deploy/ and Caddy's internal authority."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import NamedTuple

import psycopg
import pytest

from testing.service.caddy import Caddy, caddy_before
from testing.service.hosts import one_host
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Connection, Service

pytestmark = pytest.mark.slow

OWN, ACTIVE, PENDING = "sho.test", "go.customer.test", "claimed.customer.test"


class Front(NamedTuple):
    service: Service
    caddy: Caddy

    def connect(self, host: str) -> ssl.SSLSocket:
        return self.caddy.connect(host)

    def get(self, host: str, path: str) -> http.client.HTTPResponse:
        return self.caddy.get(host, path)


@pytest.fixture(scope="module")
def front(make_database: Callable[[], str], caddy: str) -> Iterator[Front]:
    options = {"BASE_URL": f"https://{OWN}", "TRUSTED_PROXIES": "127.0.0.1/32", **LONG_TIMEOUTS}
    with (
        one_host(make_database(), **options) as service,
        caddy_before(service, program=caddy) as proxy,
    ):
        yield Front(service, proxy)


@pytest.fixture(scope="module")
def code(front: Front) -> str:
    """The code of a link on the active domain."""
    owner = front.service.owner
    with psycopg.connect(front.service.environment["DATABASE_URL"], autocommit=True) as database:
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
    link = front.service.call(
        "POST",
        "/api/urls",
        {"originalUrl": "https://example.com/page", "domainId": row[0]},
        X_API_Key=owner.api_key,
        Host="127.0.0.1",
    ).json()["data"]["url"]
    assert link["shortUrl"] == f"https://{ACTIVE}/{link['shortCode']}"
    return link["shortCode"]


def test_an_active_domain_has_a_certificate_and_redirects_over_https(front: Front, code: str) -> None:
    response = front.get(ACTIVE, f"/{code}")
    assert (response.status, response.headers["Location"]) == (302, "https://example.com/page")
    assert response.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert response.headers["Server"] is None
    assert front.get(OWN, "/healthz").status == 200
    assert front.get(OWN, f"/{code}").status == 404


@pytest.mark.parametrize("host", [PENDING, "unknown.test", f"sub.{ACTIVE}"])
def test_other_names_get_no_certificate(front: Front, code: str, host: str) -> None:
    with pytest.raises(ssl.SSLError):
        front.connect(host)


@pytest.mark.parametrize("path", [f"/internal/tls-allowed?domain={ACTIVE}", "/internal/", "/metrics"])
def test_internal_paths_are_not_served_by_caddy(front: Front, code: str, path: str) -> None:
    assert {front.get(host, path).status for host in (OWN, ACTIVE)} == {404}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/internal/tls-allowed?domain={ACTIVE}", 200),
        ("/internal/", 404),
        ("/readyz", 404),
        ("/metrics", 404),
    ],
)
def test_caddy_ask_listener_serves_nothing_else(front: Front, code: str, path: str, status: int) -> None:
    with closing(Connection(front.caddy.ask_port)) as connection:
        assert connection.call("GET", path).status == status


def test_lists_are_compressed_and_single_objects_keep_their_etag(front: Front, code: str) -> None:
    key = front.service.owner.api_key
    sent = {"X_API_Key": key, "Accept_Encoding": "gzip"}
    listed = front.caddy.get(OWN, "/api/urls", **sent)
    assert (listed.status, listed.headers["Content-Encoding"]) == (200, "gzip")
    assert front.caddy.get(OWN, "/api/urls", X_API_Key=key).headers["Content-Encoding"] is None
    body = front.service.call("GET", "/api/urls", X_API_Key=key, Host="127.0.0.1").json()
    path = f"/api/urls/{body['data']['urls'][0]['_id']}"
    whole = front.caddy.get(OWN, path, **sent)
    etag = front.service.call("GET", path, X_API_Key=key, Host="127.0.0.1").headers["ETag"]
    assert (whole.status, whole.headers["Content-Encoding"], whole.headers["ETag"]) == (200, None, etag)
