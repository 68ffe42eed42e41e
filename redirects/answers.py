"""What a redirect says besides where it leads: one table for both lanes."""

from __future__ import annotations

from links.destinations import Target


def redirect_headers(target: Target) -> dict[str, str]:
    """In the order in which they are sent."""
    return {
        "Location": target.location,
        "Cache-Control": _cache_control(target),
        "X-Robots-Tag": "noindex",
    }


def _cache_control(target: Target) -> str:
    if target.is_guarded:
        return "no-store"
    # A permanent redirect kept for ever could neither be counted nor corrected any more.
    return "private, max-age=90" if target.redirect_type == 301 else "private, no-store"
