"""The DNS records that prove ownership of a name and point it to this service."""

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
    if requires_addresses(domain.host):
        return [
            DnsRecord("AAAA" if ":" in address else "A", domain.host, address) for address in edge_addresses()
        ]
    return [DnsRecord("CNAME", domain.host, settings.BASE_HOST)]


def required_records(domain: Domain) -> list[DnsRecord]:
    return [challenge_record(domain), *address_records(domain)]


def edge_addresses() -> list[str]:
    """The service's IP addresses. If BASE_HOST is an IP address, it is the default."""
    if settings.EDGE_ADDRESSES or not _base_is_address():
        return list(settings.EDGE_ADDRESSES)
    return [settings.BASE_HOST.strip("[]")]


def requires_addresses(host: str) -> bool:
    """Whether the name needs A/AAAA records: a CNAME cannot exist at an apex or point to an IP address."""
    return _base_is_address() or bool(settings.EDGE_ADDRESSES and is_apex(host))


def _base_is_address() -> bool:
    try:
        ipaddress.ip_address(settings.BASE_HOST.strip("[]"))
    except ValueError:
        return False
    return True
