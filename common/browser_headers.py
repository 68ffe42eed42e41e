"""What browsers are told about everything of ours that they might show."""

from __future__ import annotations

from django.http import HttpResponseBase


def protect_page(response: HttpResponseBase, policy: str) -> None:
    """For a page under its Content-Security-Policy. What a page has of its own stays.

    A referrer policy of ``no-referrer`` would make browsers send forms with ``Origin: null``, which the protection
    against forged ones refuses; with this one, other sites learn our host and no path.
    """
    for name, value in {
        "Content-Security-Policy": policy,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "strict-origin-when-cross-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }.items():
        response.headers.setdefault(name, value)
