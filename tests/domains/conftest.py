from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from testing.domains.dns_server import DnsServer
from testing.domains.domains import publish, verify
from testing.domains.resolution import dns as dns


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
