"""Response headers of files under /static. The settings import this module, so it must not import them."""

from __future__ import annotations

from collections.abc import MutableMapping


def protect_static_file(headers: MutableMapping[str, str], path: str, url: str) -> None:
    """Forbid scripts and subresources in a file that is opened directly: Swagger UI includes a page with a script."""
    headers["Content-Security-Policy"] = (
        "default-src 'none'; sandbox; frame-ancestors 'none'; base-uri 'none'"
    )
    headers["X-Content-Type-Options"] = "nosniff"
