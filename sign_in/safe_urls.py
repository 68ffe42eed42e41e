"""The URLs that the service trusts: its own pages after a login, and those of the OpenID provider."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

# A login must not redirect to a short link: its destination may be any site, and people would trust it. A segment that
# begins with a dot, or contains a percent sign or a backslash, could leave these folders, because browsers resolve it.
_OWN_PAGE = re.compile(
    r"/(?:accounts|admin|dashboard)(?:/[\w~=+,:@-][\w.~=+,:@-]*)*/?(?:\?[^\s\\\x00-\x1f\x7f]*)?", re.ASCII
)


def is_own_page(target: str) -> bool:
    """Whether ``target`` is the path of a page of the service, with or without a query."""
    return _OWN_PAGE.fullmatch(target) is not None


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
