"""What browsers are told about the files under /static. Named by the settings, so it may need none of them."""

from __future__ import annotations

from collections.abc import MutableMapping


def protect_static_file(headers: MutableMapping[str, str], path: str, url: str) -> None:
    """Opened by itself, a file runs and loads nothing; one of Swagger UI's is a page with a script."""
    headers["Content-Security-Policy"] = (
        "default-src 'none'; sandbox; frame-ancestors 'none'; base-uri 'none'"
    )
    headers["X-Content-Type-Options"] = "nosniff"
