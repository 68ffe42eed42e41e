"""Host names as they arrive in a Host header, brought to one spelling."""

from __future__ import annotations

import re

_HOST = re.compile(
    r"([a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?\.?|\[[0-9a-f:.]{2,45}\])(?::[0-9]{0,5})?", re.ASCII
)

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})


def canonical_host(header: str) -> str | None:
    """Lower case, without port and trailing dot; None for what is no host name (RFC 9110 7.2)."""
    # Asked before lower-casing, which would make ASCII of some letters that are none.
    match = _HOST.fullmatch(header.lower()) if header.isascii() else None
    return match[1].removesuffix(".") if match else None


def is_address(host: str) -> bool:
    """Whether a canonical host is an IP address literal or this machine's own name for itself."""
    return host.startswith("[") or host == "localhost" or host.replace(".", "").isdigit()
