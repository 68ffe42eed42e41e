"""Rejects requests with a missing or contradictory host (RFC 9112, section 3.2)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from gunicorn.http.errors import InvalidHeader

from common.http.hosts import canonical_host


def check_target(request: Any) -> None:
    """Check a gunicorn request. Raises InvalidHeader: gunicorn replies 400 and closes the connection."""
    host = next((value for name, value in request.headers if name == "HOST"), None)
    if host is None:
        if request.version >= (1, 1):
            raise InvalidHeader("HOST")
        return
    if request.uri.startswith("/") or "://" not in request.uri:
        return
    try:
        authority = urlsplit(request.uri).netloc
    except ValueError:
        raise InvalidHeader("HOST") from None
    named = canonical_host(authority)
    if named is None or named != canonical_host(host):
        raise InvalidHeader("HOST")
