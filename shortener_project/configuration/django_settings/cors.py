from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def cors_settings(origins: Sequence[str]) -> dict[str, Any]:
    """Cross-origin requests authenticate with a header. Cookies are neither sent nor accepted."""
    allows_all = list(origins) == ["*"]
    return {
        "CORS_ALLOW_CREDENTIALS": False,
        "CORS_ALLOW_ALL_ORIGINS": allows_all,
        "CORS_ALLOWED_ORIGINS": [] if allows_all else origins,
        "CORS_URLS_REGEX": r"^/api/",
        "CORS_ALLOW_METHODS": ("GET", "POST", "PUT", "PATCH", "DELETE"),
        "CORS_ALLOW_HEADERS": (
            *("accept", "authorization", "content-type", "idempotency-key"),
            *("if-match", "if-none-match", "prefer", "x-api-key", "x-request-id", "x-workspace"),
        ),
        "CORS_EXPOSE_HEADERS": (
            *("ETag", "Idempotent-Replayed", "Preference-Applied", "Retry-After", "X-Request-ID"),
            *("RateLimit", "RateLimit-Limit", "RateLimit-Policy", "RateLimit-Remaining", "RateLimit-Reset"),
        ),
    }
