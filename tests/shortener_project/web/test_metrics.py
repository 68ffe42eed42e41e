from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.host.metric_files import ALLOCATED_BYTES
from domains.models import Domain
from pages.refusals import INTERNAL_ERROR
from testing.visitors.agents import FIREFOX
from tests.shortener_project.web.scraping import prometheus as prometheus
from tests.shortener_project.web.scraping import value

MakeLink = Callable[..., dict[str, Any]]
CURL = "curl/8.5.0"
PROJECT = Path(__file__).resolve().parents[3]


@pytest.fixture
def customers_domain(alice: NewAccount) -> Domain:
    return Domain.objects.create(
        owner=alice.workspace, domain="customer.example", subdomain="go", host="go.customer.example", status="active",
        not_found_url="https://customer.example/lost", expired_url="https://customer.example/over",
    )  # fmt: skip


# Access


def test_prometheus_gets_its_format(prometheus: Client, db: None) -> None:
    response = prometheus.get("/metrics")
    assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert response.headers["Cache-Control"] == "no-store"
    assert prometheus.head("/metrics").status_code == 200
    assert prometheus.post("/metrics").status_code == 405


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_loopback_clients_can_read_metrics(address: str, prometheus: Client, db: None) -> None:
    assert prometheus.get("/metrics", REMOTE_ADDR=address).status_code == 200


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("192.0.2.1", {}),
        ("10.0.0.1", {}),
        ("::ffff:192.0.2.1", {}),
        ("unknown", {}),
        ("127.0.0.1", {"x-forwarded-for": "127.0.0.1"}),
        ("127.0.0.1", {"x-forwarded-for": ""}),
        ("127.0.0.1", {"forwarded": "for=127.0.0.1"}),
        ("127.0.0.1", {"via": "1.1 proxy"}),
        ("127.0.0.1", {"host": "go.customer.example"}),
        ("127.0.0.1", {"host": "elsewhere.example"}),
        ("192.0.2.1", {"x-forwarded-for": "127.0.0.1", "host": "sho.rt"}),
    ],
)
def test_metrics_return_404_for_other_clients(
    address: str, headers: dict[str, str], prometheus: Client, customers_domain: Domain, settings: Settings
) -> None:
    for proxies in ([], [ip_network("127.0.0.0/8")]):
        settings.TRUSTED_PROXIES = proxies
        response = prometheus.get("/metrics", REMOTE_ADDR=address, headers=headers)
        unknown = Client().get("/no0such0code", headers={"host": "sho.rt"})
        assert (response.status_code, response.content) == (404, unknown.content)
        assert response.headers.items() == unknown.headers.items()


def test_unix_socket_clients_can_read_metrics(prometheus: Client, db: None) -> None:
    assert prometheus.get("/metrics", REMOTE_ADDR="").status_code == 200
    assert prometheus.get("/metrics", REMOTE_ADDR="", headers={"via": "1.1 proxy"}).status_code == 404


@pytest.mark.parametrize("path", ["/metrics", "/internal", "/internal/tls-allowed?domain=sho.rt"])
def test_internal_paths_return_404_on_the_public_port(path: str, db: None) -> None:
    assert Client(headers={"host": "127.0.0.1:8000"}).get(path).status_code == 404


@pytest.mark.parametrize(
    "path", ["/", "/api/schema", "/admin/", "/no0such0code", "/static/admin/css/base.css"]
)
def test_public_paths_return_404_on_the_internal_listener(path: str, prometheus: Client, db: None) -> None:
    assert prometheus.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_probes_work_on_both_listeners(path: str, prometheus: Client, db: None) -> None:
    assert prometheus.get(path).status_code == 200
    assert Client(headers={"host": "127.0.0.1:8000"}).get(path).status_code == 200


def test_metrics_networks_are_configurable(prometheus: Client, settings: Settings, db: None) -> None:
    settings.METRICS_ALLOWED_NETWORKS = [ip_network("10.1.0.0/16"), ip_network("fd00::/8")]
    statuses = [
        prometheus.get("/metrics", REMOTE_ADDR=address, headers={"host": host}).status_code
        for address in ("10.1.2.3", "fd00::1", "10.2.0.1", "127.0.0.1")
        for host in ("sho.rt", "10.1.0.9:8000")
    ]
    assert statuses == [200, 200, 200, 200, 404, 404, 404, 404]


# Redirects


@pytest.mark.slow
def test_link_requests_are_counted_by_outcome(
    visitor: Client, api: APIClient, prometheus: Client, make_link: MakeLink, customers_domain: Domain
) -> None:
    domain = str(customers_domain.public_id)
    disabled = make_link()
    api.put(f"/api/urls/{disabled['_id']}", {"isActive": False})
    past = "2020-01-01T00:00:00Z"
    capped = make_link(restrictions={"maxClicks": 1})
    locked = make_link(password="open sesame")
    cases: list[tuple[str, str, str, dict[str, Any]]] = [
        ("302", "GET", make_link()["shortCode"], {}),
        ("302", "HEAD", make_link()["shortCode"], {"headers": {"user-agent": CURL}}),
        ("301", "GET", make_link(redirectType=301)["shortCode"], {}),
        ("disabled", "GET", disabled["shortCode"], {}),
        ("expired", "GET", make_link(expiresAt=past)["shortCode"], {}),
        ("302", "GET", capped["shortCode"], {}),
        ("limit_reached", "GET", capped["shortCode"], {}),
        ("country", "GET", make_link(restrictions={"allowedCountries": ["FR"]})["shortCode"], {}),
        ("device", "GET", make_link(restrictions={"allowedDevices": ["tablet"]})["shortCode"], {}),
        ("password", "GET", locked["shortCode"], {}),
        ("csrf", "POST", locked["shortCode"], {"data": {"password": "open sesame"}}),
        ("unknown_code", "GET", "no0such0code", {}),
        ("not_found", "GET", "no0such0code", {"headers": {"host": "elsewhere.example"}}),
        ("elsewhere", "GET", "no0such0code", {"headers": {"host": customers_domain.host}}),
        (
            "elsewhere",
            "GET",
            make_link(expiresAt=past, domainId=domain)["shortCode"],
            {"headers": {"host": customers_domain.host}},
        ),
        ("method_not_allowed", "PUT", make_link()["shortCode"], {}),
        ("unlocked", "POST", make_link()["shortCode"], {}),
    ]
    for outcome, method, code, options in cases:
        labels = {"lane": "django", "outcome": outcome}
        before = value(prometheus, "redirects_total", **labels)
        timed = value(prometheus, "redirect_seconds_count", lane="django")
        getattr(visitor, method.lower())(f"/{code}", **options)
        assert value(prometheus, "redirects_total", **labels) - before == 1, (outcome, code)
        assert value(prometheus, "redirect_seconds_count", lane="django") - timed == 1


def test_other_requests_are_not_counted_as_link_requests(
    visitor: Client, prometheus: Client, db: None
) -> None:
    before = value(prometheus, "redirect_seconds_count", lane="django")
    for path in ("/", "/healthz", "/readyz", "/robots.txt", "/api/urls", "/not/a/code"):
        visitor.get(path)
    assert value(prometheus, "redirect_seconds_count", lane="django") == before


def test_unhandled_exception_is_counted_as_an_error(prometheus: Client, make_link: MakeLink) -> None:
    labels = {"lane": "django", "outcome": INTERNAL_ERROR.reason}
    before = value(prometheus, "redirects_total", **labels)
    path = f"/{make_link()['shortCode']}"
    client = Client(headers={"host": "sho.rt", "user-agent": FIREFOX}, raise_request_exception=False)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE links_clickcounter RENAME COLUMN clicks TO something_else")
    assert client.get(path).status_code == 500
    assert value(prometheus, "redirects_total", **labels) - before == 1


# Preallocated files

EVERYTHING = """
import django
django.setup()
from django.urls import get_resolver
from common.host import metrics
from redirects import refusals
from shortener_project.web.middleware import documented_route

def routes(resolver, before=""):
    for pattern in resolver.url_patterns:
        path = before + str(pattern.pattern)
        yield from routes(pattern, path) if hasattr(pattern, "url_patterns") else [path]

documented = {documented_route(route) for route in routes(get_resolver()) if route.startswith("api")} | {"unmatched"}
assert len(documented) > 20
for route in documented:
    for status in (200, 400, 500):
        metrics.observe_api_request(route, status, 0.01)
reasons = {refusal.reason for refusal in vars(refusals).values() if isinstance(refusal, refusals.Refusal)}
for lane in ("fast", "django"):
    for outcome in {"301", "302", "elsewhere", "unlocked", "unknown_code", *reasons}:
        metrics.observe_redirect(lane, outcome, 0.001)
metrics.count_lookups(hits=1, misses=1)
for where in ("redirect", "api", "page", "background"):
    metrics.count_database_error(where)
"""


@pytest.mark.slow
def test_metric_files_are_preallocated_for_every_metric(tmp_path: Path) -> None:
    """Growing a file on a full file system raises SIGBUS in the writer."""
    environment = {
        **os.environ,
        "PROMETHEUS_MULTIPROC_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", EVERYTHING],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    sizes = {path.name: path.stat().st_size for path in tmp_path.glob("*.db")}
    assert sizes == {f"{kind}_0.db": size for kind, size in ALLOCATED_BYTES.items()}
