"""The address of a client, possibly behind proxies.

Rate limits, password lock-outs and country rules depend on this address, so a stranger must not be able to
choose it: a forwarded hop counts only if a peer that the operator trusts reported it.
"""

import re
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from django.conf import settings

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LOOPBACK: tuple[Network, ...] = (ip_network("127.0.0.0/8"), ip_network("::1/128"))

# Some proxies (Azure, IIS) append the port to the address.
_WITH_PORT = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?")


def client_address(remote_addr: str, forwarded_for: str, trusted: Sequence[Network]) -> str:
    """The right-most hop outside the trusted networks, in canonical form; the left-most if all are trusted.

    A hop that is not an address ends the search, because no known peer vouches for anything to its left. The
    peer of a Unix socket has no address (""). Only a proxy on this host can use one, so it is trusted if the
    operator trusts any network, and is "" (unknown) otherwise.
    """
    if not trusted or not forwarded_for:
        return _canonical(remote_addr)
    peer = _parse(remote_addr)
    if remote_addr and (peer is None or not _within(peer, trusted)):
        return _canonical(remote_addr)
    client = peer
    for text in reversed(forwarded_for.split(",")):
        hop = _parse_hop(text.strip())
        if hop is None:
            break
        client = hop
        if not _within(hop, trusted):
            break
    return "" if client is None else str(client)


def address_from(meta: Mapping[str, Any], trusted: Sequence[Network]) -> str:
    """The client's address from a WSGI environment."""
    return client_address(meta.get("REMOTE_ADDR", ""), meta.get("HTTP_X_FORWARDED_FOR", ""), trusted)


def address_of_client(request: Any) -> str:
    """The client's address by TRUSTED_PROXIES. ``request`` is Django's or DRF's."""
    return address_from(request.META, settings.TRUSTED_PROXIES)


def is_trusted(remote_addr: str, trusted: Sequence[Network]) -> bool:
    """Whether to trust this peer's forwarding headers."""
    return bool(trusted) and (not remote_addr or is_within(remote_addr, trusted))


def is_within(address: str, networks: Sequence[Network]) -> bool:
    parsed = _parse(address)
    return parsed is not None and _within(parsed, networks)


def comes_straight_from(meta: Mapping[str, Any], networks: Sequence[Network]) -> bool:
    """Whether a trusted peer connects directly. A request through a proxy comes from outside."""
    return not was_forwarded(meta) and is_within(meta.get("REMOTE_ADDR", ""), networks)


def was_forwarded(meta: Mapping[str, Any]) -> bool:
    return bool({"HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_VIA"} & meta.keys())


def client_network(address: str) -> str:
    """The network of one subscriber: limits count IPv4 by /24 and IPv6 by /56.

    Text that is not an address stands for itself, so all unknown clients share one limit.
    """
    client = _parse(address)
    return address if client is None else _network(client, ipv4=24, ipv6=56)


def site_network(address: str) -> str | None:
    """The /48 that holds the 256 networks of one IPv6 customer; None for IPv4, where a /24 is one already."""
    client = _parse(address)
    return None if client is None or client.version == 4 else _network(client, ipv4=32, ipv6=48)


def customer_network(address: str) -> str:
    """The network that counts as one caller where a new network would come first: IPv4 /24 and IPv6 /48."""
    return site_network(address) or client_network(address)


def provider_network(address: str) -> str | None:
    """The IPv6 /32 or IPv4 /16, which is about what one provider has; None for text that is no address."""
    client = _parse(address)
    return None if client is None else _network(client, ipv4=16, ipv6=32)


def client_site(address: str) -> str:
    """One visitor's connection: an IPv4 address, or the /64 from which an IPv6 visitor draws new addresses."""
    client = _parse(address)
    if client is None:
        return address
    return str(client) if client.version == 4 else str(ip_network((client, 64), strict=False))


def _network(client: Address, *, ipv4: int, ipv6: int) -> str:
    return str(ip_network((client, ipv4 if client.version == 4 else ipv6), strict=False))


def _canonical(address: str) -> str:
    # Most peers are IPv4 addresses from the socket, which have only one spelling.
    if ":" not in address:
        return address
    parsed = _parse(address)
    return "" if parsed is None else str(parsed)


def _parse(text: str) -> Address | None:
    try:
        # A zone ("fe80::1%eth0") names an interface of one machine and can contain almost any text.
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    # A socket that listens for both families reports IPv4 peers as ::ffff:192.0.2.1.
    return (address.version == 6 and address.ipv4_mapped) or address


def _parse_hop(text: str) -> Address | None:
    match = _WITH_PORT.fullmatch(text)
    return _parse((match[1] or match[2]) if match else text)


def _within(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)
