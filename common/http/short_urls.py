"""The URLs of short links."""

from __future__ import annotations

from django.conf import settings


def short_url_of_host(host: str | None) -> str:
    """The base URL of a customer's host (always https), or of the default domain for None."""
    return str(settings.BASE_URL) if host is None else f"https://{host}"
