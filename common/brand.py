"""The name, logo and colour that the operator gave to the service's pages."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from django.conf import settings

LOGO_PATH = "/.well-known/brand.png"


def brand_context() -> dict[str, str]:
    """Variables of the pages' templates. ``brand_logo`` is a URL that changes with the logo; "" for none."""
    return {"brand_name": settings.BRAND_NAME, "brand_logo": logo_url()}


def logo_url() -> str:
    """The URL of the logo on the host of the page; "" without one."""
    logo: bytes | None = settings.BRAND_LOGO
    return "" if logo is None else f"{LOGO_PATH}?v={_version(logo)}"


@lru_cache(maxsize=4)
def _version(logo: bytes) -> str:
    return hashlib.sha256(logo).hexdigest()[:16]
