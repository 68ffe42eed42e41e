"""The address of a client, possibly behind proxies, and whether it uses the internal listener.

Rate limits, password lock-outs and country rules depend on this address, so a stranger must not be able to
choose it: a forwarded hop counts only if a peer that the operator trusts reported it.

Only the operator's programs can reach the internal listener.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from socket import AF_INET, AF_INET6, inet_pton
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


# The networks of the IANA IPv4 Special-Purpose Address Registry that are not globally reachable, in ascending order.
# The two anycast addresses of 192.0.0.0/24 have no location either.
_SPECIAL = [
    ip_network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "240.0.0.0/4",
    )
]  # fmt: skip
# The first address of each network and the first one after it: an address after an odd number of these is within.
_BOUNDARIES = [
    int(boundary) + after
    for network in _SPECIAL
    for boundary, after in ((network.network_address, 0), (network.broadcast_address, 1))
]


# Trades clarity for speed: pairs of numbers take a fifth of the time of `ipaddress`, and the fast lane reads them on
# each visit. bench/results.csv, "Redirects", has the rate of links with lists of countries.
def ip_number(address: str) -> tuple[int, int] | None:
    """Return the number of bits of the address (32 or 128) and its value; None if it is not an address."""
    try:
        if ":" in address:
            return 128, int.from_bytes(inet_pton(AF_INET6, address))
        return 32, int.from_bytes(inet_pton(AF_INET, address))
    except (OSError, ValueError):
        return None


def is_global(bits: int, number: int) -> bool:
    """Return whether the address, as `ip_number` returns it, is globally reachable."""
    if bits == 32:
        return bisect_right(_BOUNDARIES, number) % 2 == 0
    return IPv6Address(number).is_global


# `mark_internal` sets this entry of the WSGI environment. No request header maps to this name.
INTERNAL = "shortener.internal"


def mark_internal(environ: dict[str, Any]) -> None:
    """Note in the WSGI environment whether the request arrived at the internal listener."""
    environ[INTERNAL] = _arrived_inside(environ)


def is_internal_address(server: Any) -> bool:
    """Whether ``server``, an address from getsockname(), belongs to the internal listener."""
    if isinstance(server, str):
        return server == str(settings.INTERNAL_LISTEN)
    return bool(server[1] == settings.INTERNAL_PORT)


def _arrived_inside(environ: Mapping[str, Any]) -> bool:
    """Nothing in the request counts: gunicorn takes SERVER_PORT from Host if the client came through a Unix socket, so
    its own socket decides.
    """
    if "gunicorn.socket" in environ:
        try:
            return is_internal_address(environ["gunicorn.socket"].getsockname())
        except OSError:  # closed
            return False
    # Other servers take a TCP listener's port from the listener. That of a Unix socket's client may come from Host.
    is_over_tcp = bool(settings.INTERNAL_PORT and environ.get("REMOTE_ADDR"))
    return is_over_tcp and environ.get("SERVER_PORT") == str(settings.INTERNAL_PORT)


def is_internal(meta: Mapping[str, Any]) -> bool:
    return meta.get(INTERNAL) is True


def is_internal_client(meta: Mapping[str, Any], networks: Sequence[Network]) -> bool:
    """Whether the request arrived at the internal listener, directly from one of these networks or through a Unix
    socket. Unix socket clients have no address; file permissions control their access.
    """
    if not is_internal(meta):
        return False
    if not meta.get("REMOTE_ADDR"):
        return not was_forwarded(meta)
    return comes_straight_from(meta, networks)
