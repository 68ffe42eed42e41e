from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from domains.verification import resolver
from testing.domains.dns_server import DnsServer, dns_server
from testing.domains.domains import publish, verify


@pytest.fixture
def dns(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[DnsServer]:
    """The only resolver that the service queries. It shares this process, so it gets time on a busy machine, too."""
    monkeypatch.setattr(resolver, "DEADLINE_SECONDS", 60.0)
    monkeypatch.setattr(resolver, "TRY_SECONDS", 30.0)
    with dns_server() as server:
        settings.DNS_RESOLVERS = [server.address]
        server.zones += ["brand.example", "sho.rt"]
        yield server


@pytest.fixture
def claim(api: APIClient) -> Callable[..., dict[str, Any]]:
    """Claims a domain through the API and returns its ``data.domain``. The default client is Alice's."""

    def add(domain: str = "go.brand.example", client: APIClient = api, **fields: Any) -> dict[str, Any]:
        response = client.post("/api/domains", {"domain": domain, **fields})
        assert response.status_code == 201, response.json()
        return response.json()["data"]["domain"]

    return add


@pytest.fixture
def active(api: APIClient, dns: DnsServer, claim: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """A verified domain of Alice."""
    domain = claim()
    publish(dns, domain)
    assert verify(api, domain).status_code == 200
    dns.queries.clear()
    return domain
