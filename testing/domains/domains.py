"""Domains that are active without DNS, and the DNS records and verification of others, as by their owner."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient

from accounts.models import Workspace
from domains.models import Domain, DomainStatus
from testing.domains.dns_server import DnsServer


def active_domain(owner: Workspace, host: str = "go.example") -> Domain:
    return Domain.objects.create(owner=owner, domain=host, host=host, status=DomainStatus.ACTIVE)


def publish(server: DnsServer, domain: dict[str, Any]) -> None:
    """Add the required records to DNS. Keep existing TXT records."""
    for record in domain["dnsRecords"]:
        existing = server.records.get((record["name"], record["type"]), []) if record["type"] == "TXT" else []
        server.set(record["name"], record["type"], *existing, as_zone_file(record))


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


def state() -> tuple[str, int]:
    """The status of the only domain, and how many checks of its DNS failed in a row."""
    domain = Domain.objects.get()
    return domain.status, domain.failed_checks
