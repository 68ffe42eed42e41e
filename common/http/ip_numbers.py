"""IP addresses as numbers, which take a fifth of the time of `ipaddress`: the fast lane reads them on each visit.

Trades clarity for speed: pairs of numbers instead of objects. bench/results.md, "Redirects", has the rate of links
with lists of countries.
"""

from __future__ import annotations

from bisect import bisect_right
from ipaddress import IPv6Address, ip_network
from socket import AF_INET, AF_INET6, inet_pton

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
