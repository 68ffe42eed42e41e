from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from tests.domains.dns_server import DnsServer, dns_server


@pytest.fixture
def dns(settings: Settings) -> Iterator[DnsServer]:
    """The only resolver that the service asks."""
    with dns_server() as server:
        settings.DNS_RESOLVERS = [server.address]
        server.zones += ["brand.example", "sho.rt"]
        yield server


@pytest.fixture
def claim(api: APIClient) -> Callable[..., dict[str, Any]]:
    """Adds a domain through the API and returns its ``data.domain``; Alice's, unless another client is given."""

    def add(domain: str = "go.brand.example", client: APIClient = api, **fields: Any) -> dict[str, Any]:
        response = client.post("/api/domains", {"domain": domain, **fields})
        assert response.status_code == 201, response.json()
        return response.json()["data"]["domain"]

    return add


@pytest.fixture
def active(api: APIClient, dns: DnsServer, claim: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """Alice's, proven."""
    domain = claim()
    publish(dns, domain)
    assert verify(api, domain).status_code == 200
    dns.asked.clear()
    return domain


def publish(server: DnsServer, domain: dict[str, Any]) -> None:
    """Enters into DNS what the owner was told to; a TXT record beside those that are there."""
    for record in domain["dnsRecords"]:
        there = server.records.get((record["name"], record["type"]), []) if record["type"] == "TXT" else []
        server.set(record["name"], record["type"], *there, as_zone_file(record))


def as_zone_file(record: dict[str, str]) -> str:
    if record["type"] == "TXT":
        return f'"{record["value"]}"'
    return f"{record['value']}." if record["type"] == "CNAME" else record["value"]


def verify(client: APIClient, domain: dict[str, Any]) -> Any:
    return client.post(f"/api/domains/{domain['_id']}/verify")


def status_of(client: APIClient, domain: dict[str, Any]) -> str:
    response = client.get(f"/api/domains/{domain['_id']}")
    assert response.status_code == 200, response.content
    return response.json()["data"]["domain"]["status"]
