"""Who is at the other end of a connection, when proxies stand between.

Rate limits, password lock-outs and country rules hang on this address, so nothing that a stranger writes
may move it: a forwarded hop is believed only when a peer that the operator trusts has reported it.
"""

import re
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LOOPBACK: tuple[Network, ...] = (ip_network("127.0.0.0/8"), ip_network("::1/128"))

# Some proxies (Azure, IIS) forward the port with the address.
_WITH_PORT = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?")


def client_address(remote_addr: str, forwarded_for: str, trusted: Sequence[Network]) -> str:
    """The right-most hop outside the trusted networks, in canonical text; all of them trusted: the left-most.

    A hop that is no address ends the walk: what stands left of it was not vouched for by anyone known.
    The peer of a Unix socket has no address (""); only a proxy of this host can be there, so it is trusted
    as soon as the operator trusts any network, and is "" (unknown) otherwise.
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


def is_trusted(remote_addr: str, trusted: Sequence[Network]) -> bool:
    """Whether what this peer reports of others is believed."""
    return bool(trusted) and (not remote_addr or is_within(remote_addr, trusted))


def is_within(address: str, networks: Sequence[Network]) -> bool:
    parsed = _parse(address)
    return parsed is not None and _within(parsed, networks)


def comes_straight_from(meta: Mapping[str, Any], networks: Sequence[Network]) -> bool:
    """What a proxy passes on comes from outside, whatever it says about itself."""
    if {"HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_VIA"} & meta.keys():
        return False
    return is_within(meta.get("REMOTE_ADDR", ""), networks)


def client_network(address: str) -> str:
    """What one subscriber can choose addresses from: limits count IPv4 by /24 and IPv6 by /56.

    Text that is no address stands for itself, so that unknown clients share one limit.
    """
    client = _parse(address)
    if client is None:
        return address
    return str(ip_network((client, 24 if client.version == 4 else 56), strict=False))


def _canonical(address: str) -> str:
    # An IPv4 peer comes from the socket and has one spelling only; it is also by far the most frequent.
    if ":" not in address:
        return address
    parsed = _parse(address)
    return "" if parsed is None else str(parsed)


def _parse(text: str) -> Address | None:
    try:
        # A zone ("fe80::1%eth0") names an interface of one machine and may hold almost any text.
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
