"""The DNS records that prove a name and lead it here."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple

from django.conf import settings

from domains.models import Domain
from domains.names import CHALLENGE, is_apex


class DnsRecord(NamedTuple):
    type: str
    name: str
    value: str


def challenge_record(domain: Domain) -> DnsRecord:
    return DnsRecord("TXT", f"{CHALLENGE}.{domain.host}", domain.token)


def address_records(domain: Domain) -> list[DnsRecord]:
    if wants_addresses(domain.host):
        return [
            DnsRecord("AAAA" if ":" in address else "A", domain.host, address) for address in edge_addresses()
        ]
    return [DnsRecord("CNAME", domain.host, settings.BASE_HOST)]


def required_records(domain: Domain) -> list[DnsRecord]:
    return [challenge_record(domain), *address_records(domain)]


def edge_addresses() -> list[str]:
    """Where the service is reached without a name; one that has none itself is reached at its own address."""
    if settings.EDGE_ADDRESSES or not _base_is_address():
        return list(settings.EDGE_ADDRESSES)
    return [settings.BASE_HOST.strip("[]")]


def wants_addresses(host: str) -> bool:
    """Whether the name must have addresses: no CNAME can be at an apex, and none can lead to an address."""
    return _base_is_address() or bool(settings.EDGE_ADDRESSES and is_apex(host))


def _base_is_address() -> bool:
    try:
        ipaddress.ip_address(settings.BASE_HOST.strip("[]"))
    except ValueError:
        return False
    return True
