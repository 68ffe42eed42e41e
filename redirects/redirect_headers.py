"""The headers of a redirect, shared by both lanes."""

from __future__ import annotations

from collections.abc import Mapping

from links.destinations.lookup import Target


def redirect_headers(target: Target, location: str) -> dict[str, str]:
    """Return the headers in the order in which they are sent. ``location``: that of the visit's route."""
    return _headers(location, _cache_control(target), target.referrer_policy)


def encoded_headers(target: Target, location: str) -> bytes:
    """Return the header lines of a response without a body, up to and including the empty line."""
    return encode_headers(redirect_headers(target, location))


def elsewhere_headers(url: str, referrer_policy: str | None = None) -> dict[str, str]:
    """Return the headers of a redirect to the fallback URL of a domain or link, in their order. Not cacheable."""
    return _headers(url, "no-store", referrer_policy)


def _headers(location: str, cache_control: str, referrer_policy: str | None) -> dict[str, str]:
    headers = {"Location": location, "Cache-Control": cache_control, "X-Robots-Tag": "noindex"}
    if referrer_policy is not None:
        headers["Referrer-Policy"] = referrer_policy
    return headers


def encode_headers(headers: Mapping[str, str]) -> bytes:
    """Return the lines of a response without a body, up to and including the empty line."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{lines}Content-Length: 0\r\n\r\n".encode("ascii")


def _cache_control(target: Target) -> str:
    if target.is_guarded:
        return "no-store"
    # Clicks on a permanently cached redirect could not be counted, and its destination could not be corrected.
    return "private, max-age=90" if target.redirect_type == 301 else "private, no-store"
