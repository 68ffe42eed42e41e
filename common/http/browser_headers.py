"""Security headers for everything that a browser might display."""

from __future__ import annotations

from django.http import HttpResponseBase


def protect_page(response: HttpResponseBase, policy: str) -> None:
    """Set the headers of a page with this Content-Security-Policy; keep headers that the page already has.

    With the referrer policy ``no-referrer``, browsers would send forms with ``Origin: null``, which the CSRF
    protection rejects. With this policy, other sites see the host but no path.
    """
    for name, value in {
        "Content-Security-Policy": policy,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "strict-origin-when-cross-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }.items():
        response.headers.setdefault(name, value)
