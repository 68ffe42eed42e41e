"""Warns the operator about a proxy that is missing from TRUSTED_PROXIES.

A loopback or private address or a Unix socket that sends X-Forwarded-For is probably a proxy. While the service does
not trust it, all visitors have the proxy's address: they share one limit, and country rules do not apply.
"""

from __future__ import annotations

import logging
from functools import cache, lru_cache
from ipaddress import ip_network

from django.conf import settings

from common.host.limited_warnings import LimitedWarnings
from common.http.client_address import LOOPBACK, Network, client_address, is_within

# Also the time for which the admin's front page shows an address.
SECONDS, ADDRESSES = 3600, 16
# Stands for the peers of a Unix socket, whose address is "".
_UNIX_SOCKET = "unix-socket"
# RFC 1918 and RFC 4193.
_PRIVATE: tuple[Network, ...] = tuple(
    map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"))
)

log = logging.getLogger(__name__)


def report_if_untrusted_proxy(peer: str, trusted: tuple[Network, ...]) -> None:
    """Log a warning, once an hour for each address, if ``peer`` is local but not trusted. Call it for a request that
    has X-Forwarded-For.
    """
    if not _is_untrusted_proxy(peer, trusted):
        return
    address = client_address(peer, "", ()) or _UNIX_SOCKET
    if not untrusted_proxies().is_due(address):
        return
    log.warning(
        "X-Forwarded-For from %s is ignored, because the address is not in TRUSTED_PROXIES. If it is the address of "
        "a proxy, all its visitors share one limit. The front page of the admin shows the address.",
        _shown(peer, address),
    )


def _shown(peer: str, address: str) -> str:
    if not peer:
        return "a Unix socket"
    if settings.LOG_ADDRESSES:
        return address
    return f"a {'loopback' if is_within(peer, LOOPBACK) else 'private'} address"


def untrusted_proxy_addresses() -> list[str]:
    """The addresses of the last hour on this host, except those now trusted."""
    trusted = tuple(settings.TRUSTED_PROXIES)
    recent = ("" if subject == _UNIX_SOCKET else subject for subject in untrusted_proxies().recent())
    return [peer or "a Unix socket" for peer in recent if _is_untrusted_proxy(peer, trusted)]


@lru_cache(maxsize=1024)
def _is_untrusted_proxy(peer: str, trusted: tuple[Network, ...]) -> bool:
    # As in `client_address`: a Unix socket is trusted if any network is.
    if not peer:
        return not trusted
    return is_within(peer, (*LOOPBACK, *_PRIVATE)) and not is_within(peer, trusted)


@cache
def untrusted_proxies() -> LimitedWarnings:
    return LimitedWarnings(
        settings.VERSIONS_FILE.with_name("untrusted_proxies"), seconds=SECONDS, subjects=ADDRESSES
    )
