"""Host names of Host headers in canonical form."""

from __future__ import annotations

import re

_HOST = re.compile(
    r"([a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?\.?|\[[0-9a-f:.]{2,45}\])(?::[0-9]{0,5})?", re.ASCII
)

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})


def canonical_host(header: str) -> str | None:
    """The host in lower case, without port and trailing dot. None if the header is not a host name (RFC 9110 7.2)."""
    # Check before lower-casing, which turns some non-ASCII letters into ASCII.
    match = _HOST.fullmatch(header.lower()) if header.isascii() else None
    return match[1].removesuffix(".") if match else None


def is_address(host: str) -> bool:
    """Whether a canonical host is an IP address literal or ``localhost``."""
    return host.startswith("[") or host == "localhost" or host.replace(".", "").isdigit()
