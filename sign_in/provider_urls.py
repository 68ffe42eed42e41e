"""URLs of the OpenID provider."""

from __future__ import annotations

from urllib.parse import urlsplit

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def is_secure_url(url: object) -> bool:
    """Whether it is an https URL. On a loopback host, http is secure enough."""
    if not isinstance(url, str) or not (url.isascii() and url.isprintable()):
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK))
