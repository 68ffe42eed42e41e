"""Errors that services raise. Plain Python, so that the redirect path can use it without DRF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

# Per request. Further errors are only counted, so that the response stays small for any input.
MAX_REPORTED = 20
# The code of a field or parameter that the service does not know.
UNKNOWN_FIELD = "unknown_field"


@dataclass(frozen=True, slots=True)
class FieldError:
    """One broken rule of one field. ``field`` is its path in the request body: ``restrictions.maxClicks``.

    ``did_you_mean`` is the path of the field that an unknown one resembles.
    """

    field: str
    code: str
    message: str
    did_you_mean: str | None = None

    def as_json(self) -> dict[str, str]:
        shown = {"field": self.field, "code": self.code, "message": self.message}
        return shown if self.did_you_mean is None else {**shown, "didYouMean": self.did_you_mean}


class ServiceError(Exception):
    """A rejected request: HTTP status, stable code and one sentence for people.

    ``data``, if any, becomes part of the response's ``data``.
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
    """Broken field rules: the first MAX_REPORTED in ``errors``, the number of the others in ``more``.

    ``message`` names the first field. ``code`` is UNKNOWN_FIELD if all reported errors have this code.
    """

    code = "validation_error"

    def __init__(self, errors: Iterable[FieldError], *, more: int = 0) -> None:
        broken = iter(errors)
        self.errors = list(islice(broken, MAX_REPORTED))
        self.more = more + sum(1 for _ in broken)
        first = self.errors[0]
        are_unknown = all(error.code == UNKNOWN_FIELD for error in self.errors)
        super().__init__(f"{first.field}: {first.message}", code=UNKNOWN_FIELD if are_unknown else None)


class BadBody(ServiceError):
    code = "invalid_json"
    message = "The request body is not valid JSON."


class Forbidden(ServiceError):
    status = 403
    code = "permission_denied"
    message = "You do not have permission to do this."


class StorageFull(Forbidden):
    """A trigger has refused to store more, and so changed nothing."""

    code = "quota_exceeded"
    message = (
        "The plan allows no more stored data. Delete links or QR codes first; a deleted link counts until it can no "
        "longer be brought back."
    )


class RoleRequired(Forbidden):
    """The caller's role in the workspace is lower than ``role``."""

    code = "role_required"

    def __init__(self, role: str) -> None:
        super().__init__(f"This requires the role {role} in the workspace.")
        self.data: Mapping[str, Any] = {"role": str(role)}


class ScopeRequired(Forbidden):
    """The caller's key lacks ``scope``."""

    code = "scope_required"

    def __init__(self, scope: str) -> None:
        super().__init__(f"This requires a key with the scope {scope}.")
        self.data: Mapping[str, Any] = {"scope": str(scope)}


class KeyLimited(Forbidden):
    """The action refuses keys with scopes, or keys that are limited to some of the links."""

    code = "key_limited"
    message = (
        "The key is limited to some of the links. This request requires a key without this limit, or a token."
    )


class NotFound(ServiceError):
    status = 404
    code = "not_found"
    message = "Not found."


class WorkspaceNotFound(NotFound):
    """No such workspace, or the account is not a member of it: the response reveals no difference."""

    message = "Workspace not found."


class Conflict(ServiceError):
    status = 409
    code = "conflict"
    message = "Already in use."


class LengthRequired(ServiceError):
    status = 411
    code = "length_required"
    message = "Send a Content-Length; chunked bodies are not supported."


class PreconditionFailed(ServiceError):
    status = 412
    code = "changed_meanwhile"
    message = "The object has changed since the version in If-Match."


class BodyTooLarge(ServiceError):
    status = 413
    code = "body_too_large"
    message = "The request body is too large."


# The limit of requests, which every response names.
REQUEST_POLICY = "default"


def rate_limit_headers(policy: str, *, limit: int, window: int, remaining: int, reset: int) -> dict[str, str]:
    """The fields of draft-ietf-httpapi-ratelimit-headers-11, and the older three that clients support today.

    Of ``limit`` requests or attempts in ``window`` seconds, ``remaining`` are left for another ``reset`` seconds.
    """
    return {
        "RateLimit": f'"{policy}";r={remaining};t={reset}',
        "RateLimit-Policy": f'"{policy}";q={limit};w={window}',
        "RateLimit-Limit": str(limit),
        "RateLimit-Remaining": str(remaining),
        "RateLimit-Reset": str(reset),
    }


class TooManyAttempts(ServiceError):
    """More than ``limit`` attempts in ``window`` seconds. ``retry_after`` is in whole seconds, at least 1."""

    status = 429
    code = "rate_limited"
    message = "Too many attempts. Try again later."
    policy = "attempts"

    def __init__(self, retry_after: int, *, limit: int, window: int) -> None:
        self.retry_after = max(1, retry_after)
        self.limit = limit
        self.window = window
        super().__init__()

    @property
    def headers(self) -> dict[str, str]:
        left = rate_limit_headers(
            self.policy, limit=self.limit, window=self.window, remaining=0, reset=self.retry_after
        )
        return {"Retry-After": str(self.retry_after), **left}


class TooManyRequests(TooManyAttempts):
    message = "Too many requests. Try again later."
    policy = REQUEST_POLICY


class Unavailable(ServiceError):
    """A dependency does not respond; ``retry_after`` in seconds."""

    status = 503
    code = "unavailable"
    message = "The service is temporarily unavailable. Try again shortly."
    retry_after = 2
