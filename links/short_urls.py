"""Short URLs of links, and the query parameter that marks scans of QR codes."""

from __future__ import annotations

from domains.addresses import short_url_of_host
from links.models import Link

# QR codes contain the short URL with this query.
SCAN_MARKER = "qr=1"


def short_url(host: str | None, code: str) -> str:
    """``host`` is None for the default domain."""
    return f"{short_url_of_host(host)}/{code}"


def short_url_of(link: Link) -> str:
    return short_url(None if link.domain is None else link.domain.host, link.custom_code or link.short_code)
