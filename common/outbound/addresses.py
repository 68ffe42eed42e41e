"""Which addresses the service may call, and those of a host."""

from __future__ import annotations

import asyncio
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import dns.exception
from django.conf import settings

from common import resolver
from common.outbound.errors import OutboundError
from common.resolver import Answer, Lookup, Outcome

Address = IPv4Address | IPv6Address

# The registries of special addresses (RFC 6890), written out because `is_global` differs between versions of Python.
_FORBIDDEN_IPV4 = [
    ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24"),
        *("192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
        *("224.0.0.0/4", "240.0.0.0/4"),
        # Inside Azure, the host of a virtual machine.
        "168.63.129.16/32",
    )
]
# Everything else in IPv6 is reserved, local or multicast.
_GLOBAL_IPV6 = ip_network("2000::/3")
# Protocols, with Teredo; documentation; 6to4, which contains an IPv4 address; AS112; documentation.
_FORBIDDEN_IPV6 = [
    ip_network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
]
# A resolver for hosts with IPv6 alone puts IPv4 addresses into it (RFC 6052).
_NAT64 = ip_network("64:ff9b::/96")


def is_allowed(address: Address) -> bool:
    """Whether the service may connect to the address: it is public, or the operator has allowed its network."""
    if any(address in network for network in settings.OUTBOUND_ALLOWED_NETWORKS):
        return True
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _FORBIDDEN_IPV4)
    if address.ipv4_mapped is not None:
        return is_allowed(address.ipv4_mapped)
    if address in _NAT64:
        return is_allowed(IPv4Address(address.packed[-4:]))
    return address in _GLOBAL_IPV6 and not any(address in network for network in _FORBIDDEN_IPV6)


def addresses_of(host: str, seconds: float) -> list[Address]:
    """The addresses of a canonical host, IPv4 first. Raises OutboundError if any of them is forbidden."""
    addresses = [ip_address(text) for text in _texts_of(host, seconds)]
    if not all(map(is_allowed, addresses)):
        raise OutboundError("forbidden_address", "The address is not a public one.")
    return addresses


def _texts_of(host: str, seconds: float) -> tuple[str, ...]:
    literal = host.strip("[]")
    try:
        ip_address(literal)
    except ValueError:
        return _lookup(literal.rstrip("."), seconds)
    return (literal,)


def _lookup(name: str, seconds: float) -> tuple[str, ...]:
    try:
        with asyncio.Runner() as runner:
            ipv4, ipv6 = runner.run(_both(name, seconds))
    except dns.exception.DNSException:
        # A label is empty or too long.
        raise OutboundError("nxdomain", "No host can have this name.") from None
    except OSError:
        raise OutboundError("dns", "The resolver cannot be asked.") from None
    if values := ipv4.values + ipv6.values:
        return values
    if ipv4.is_definite and ipv6.is_definite and Outcome.LOOP not in (ipv4.outcome, ipv6.outcome):
        raise OutboundError("nxdomain", "The name of the host does not exist, or has no address.")
    raise OutboundError("dns", "The resolver does not know the name of the host.")


async def _both(name: str, seconds: float) -> tuple[Answer, Answer]:
    lookup = Lookup(min(seconds, resolver.DEADLINE_SECONDS))
    return await asyncio.gather(lookup.query(name, "A"), lookup.query(name, "AAAA"))
