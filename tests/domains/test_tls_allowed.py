from __future__ import annotations

from ipaddress import ip_network

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.services import NewAccount
from common.http.client_address import INTERNAL
from domains.models import Domain, DomainStatus
from testing.cases import for_each

HOSTS = {
    "active.example": DomainStatus.ACTIVE,
    "pending.example": DomainStatus.PENDING,
    "inactive.example": DomainStatus.INACTIVE,
}


@pytest.fixture(autouse=True)
def domains(alice: NewAccount) -> None:
    for host, status in HOSTS.items():
        Domain.objects.create(owner=alice.workspace, domain=host, host=host, status=status)


def status_of(name: str, **meta: str) -> int:
    caddy = Client(headers={"host": "127.0.0.1:8000"})
    caddy.defaults[INTERNAL] = True
    return caddy.get(
        "/internal/tls-allowed", {"domain": name}, **{"REMOTE_ADDR": "127.0.0.1", **meta}
    ).status_code


@for_each(
    ("name", "status"),
    [
        ("active.example", 200),
        ("ACTIVE.example.", 200),
        ("sho.rt", 200),
        ("pending.example", 404),
        ("inactive.example", 404),
        ("unknown.example", 404),
        ("sub.active.example", 404),
        ("active.example.evil.example", 404),
        ("127.0.0.1", 404),
        ("localhost", 404),
        ("[::1]", 404),
        ("active.example/../x", 404),
        ("active.example\0", 404),
        ("\u0430ctive.example", 404),
        ("", 404),
    ],
)
def test_certificates_are_allowed_for_active_domains_and_the_service_host(name: str, status: int) -> None:
    assert status_of(name) == status


@pytest.mark.parametrize(
    ("meta", "status"),
    [
        ({"REMOTE_ADDR": "127.0.0.9"}, 200),
        ({"REMOTE_ADDR": "::1"}, 200),
        ({"REMOTE_ADDR": "10.1.2.3"}, 200),
        ({"REMOTE_ADDR": "10.2.0.1"}, 404),
        ({"REMOTE_ADDR": "203.0.113.5"}, 404),
        ({"REMOTE_ADDR": ""}, 200),
        ({"HTTP_X_FORWARDED_FOR": "127.0.0.1"}, 404),
        ({"REMOTE_ADDR": "10.1.2.3", "HTTP_X_FORWARDED_FOR": "10.1.2.3"}, 404),
        ({"HTTP_FORWARDED": "for=127.0.0.1"}, 404),
        ({"HTTP_VIA": "1.1 proxy"}, 404),
        ({"HTTP_HOST": "active.example"}, 404),
        ({"HTTP_HOST": "sho.rt"}, 200),
    ],
)
def test_external_callers_get_404(settings: Settings, meta: dict[str, str], status: int) -> None:
    settings.TRUSTED_PROXIES = [ip_network("10.1.0.0/16")]
    assert status_of("active.example", **meta) == status


def test_other_methods_are_not_allowed() -> None:
    caddy = Client(headers={"host": "127.0.0.1"})
    caddy.defaults[INTERNAL] = True
    assert caddy.post("/internal/tls-allowed?domain=active.example").status_code == 405
    assert caddy.head("/internal/tls-allowed?domain=active.example").status_code == 200
