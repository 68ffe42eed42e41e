"""What services may raise. Plain Python, so that the redirect path can use it without DRF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FieldError:
    """One broken rule of one field, spelled as the client spells it: ``restrictions.maxClicks``."""

    field: str
    code: str
    message: str


class ServiceError(Exception):
    """A request that cannot be carried out: HTTP status, stable code and one sentence for people.

    ``data``, where there is any, goes into the answer's.
    """

    status = 400
    code = "bad_request"
    message = "The request cannot be carried out."
    data: Mapping[str, Any] | None = None

    def __init__(self, message: str | None = None, *, code: str | None = None) -> None:
        self.message = message or self.message
        self.code = code or self.code
        super().__init__(self.message)


class InvalidFields(ServiceError):
    """Field rules that only a service can judge. ``message`` names the first field."""

    code = "validation_error"

    def __init__(self, errors: Iterable[FieldError]) -> None:
        self.errors = list(errors)
        first = self.errors[0]
        super().__init__(f"{first.field}: {first.message}")


class BadBody(ServiceError):
    code = "invalid_json"
    message = "The request body is not valid JSON."


class Forbidden(ServiceError):
    status = 403
    code = "permission_denied"
    message = "You do not have permission to do this."


class NotFound(ServiceError):
    status = 404
    code = "not_found"
    message = "Not found."


class Conflict(ServiceError):
    status = 409
    code = "conflict"
    message = "Already in use."


class LengthRequired(ServiceError):
    status = 411
    code = "length_required"
    message = "Send a Content-Length; bodies in chunks are not read."


class BodyTooLarge(ServiceError):
    status = 413
    code = "body_too_large"
    message = "The request body is too large."


class TooManyAttempts(ServiceError):
    """``limit`` attempts may be made in any ``window`` seconds; ``retry_after`` in whole seconds, at least 1."""

    status = 429
    code = "rate_limited"
    message = "Too many attempts. Try again later."

    def __init__(self, retry_after: int, *, limit: int, window: int) -> None:
        self.retry_after = max(1, retry_after)
        self.limit = limit
        self.window = window
        super().__init__()

    @property
    def headers(self) -> dict[str, str]:
        """As clients understand them today (draft-ietf-httpapi-ratelimit-headers-06)."""
        return {
            "Retry-After": str(self.retry_after),
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": "0",
            "RateLimit-Reset": str(self.retry_after),
            "RateLimit-Policy": f"{self.limit};w={self.window}",
        }


class TooManyRequests(TooManyAttempts):
    message = "Too many requests. Try again later."


class Unavailable(ServiceError):
    """Something the service depends on does not answer; ``retry_after`` in seconds."""

    status = 503
    code = "unavailable"
    message = "The service is temporarily unavailable. Try again shortly."
    retry_after = 2
