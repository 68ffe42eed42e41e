"""Detects names behind a CDN proxy, which hides the actual records.

Uses Cloudflare's address ranges (https://www.cloudflare.com/ips/) and the CNAME targets of large CDNs.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address, ip_network

_NETWORKS = [
    ip_network(network)
    for network in (
        *("173.245.48.0/20", "103.21.244.0/22", "103.22.200.0/22", "103.31.4.0/22", "141.101.64.0/18"),
        *("108.162.192.0/18", "190.93.240.0/20", "188.114.96.0/20", "197.234.240.0/22", "198.41.128.0/17"),
        *("162.158.0.0/15", "104.16.0.0/13", "104.24.0.0/14", "172.64.0.0/13", "131.0.72.0/22"),
        *("2400:cb00::/32", "2606:4700::/32", "2803:f800::/32", "2405:b500::/32", "2405:8100::/32"),
        *("2a06:98c0::/29", "2c0f:f248::/32"),
    )
]
_NAMES = (
    *(".cdn.cloudflare.net", ".cloudfront.net", ".fastly.net", ".edgekey.net", ".edgesuite.net"),
    *(".akamaiedge.net", ".azureedge.net", ".azurefd.net", ".b-cdn.net"),
)


def is_proxied(addresses: Iterable[str], cnames: Iterable[str]) -> bool:
    return any(name.endswith(_NAMES) for name in cnames) or any(
        ip_address(address) in network for address in addresses for network in _NETWORKS
    )
