"""The URLs of short links, and the id of the domain that the service itself provides."""

from __future__ import annotations

from django.conf import settings

# In the API, of the default domain, which has no row.
BASE_ID = "base"


def short_url_of_host(host: str | None) -> str:
    """The base URL of a customer's host (always https), or of the default domain for None."""
    return str(settings.BASE_URL) if host is None else f"https://{host}"


def short_url(host: str | None, code: str) -> str:
    """``host`` is None for the default domain."""
    return f"{short_url_of_host(host)}/{code}"
