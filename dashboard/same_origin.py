"""Whether the dashboard's own page sent a request. Other sites can make a browser send its cookies, too."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def is_same_origin(request: HttpRequest) -> bool:
    """Browsers send ``Origin`` with each POST request, and scripts of a page cannot change it.

    BASE_URL is accepted besides the origin as this process sees it: a proxy that ends TLS may be missing from
    TRUSTED_PROXIES.
    """
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        return False
    own = {settings.BASE_URL, f"{request.scheme}://{request.META.get('HTTP_HOST', '')}"}
    return request.headers.get("Origin") in own
