"""What a call can raise: the service refused it (`ApiError`), or no answer came (`ConnectionFailed`)."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, cast

import httpx


class ShortenerError(Exception):
    """Base of everything that the client raises on purpose."""


class ConfigurationError(ShortenerError):
    """The address of the service or a credential is missing or unusable."""


class ConnectionFailed(ShortenerError):
    """No complete answer came, after all attempts. A write may have happened: see ``may_have_happened``."""

    def __init__(self, cause: httpx.TransportError, *, attempts: int, may_have_happened: bool) -> None:
        super().__init__(
            f"{cause or type(cause).__name__} ({attempts} {'attempt' if attempts == 1 else 'attempts'})"
        )
        self.attempts = attempts
        self.may_have_happened = may_have_happened


class UnexpectedAnswer(ShortenerError):
    """Success, but not with what this service sends: another server answers at this address."""


class NotModified(ShortenerError):
    """304: what `if_none_match` names is still current."""


class FieldError(NamedTuple):
    """One broken rule: the path of the field, the rule for programs and for people."""

    field: str
    code: str
    message: str
    did_you_mean: str | None = None


class ApiError(ShortenerError):
    """The service refused the call. Subclasses exist for each documented `code`.

    ``details`` is the whole body of the answer; ``fields`` are its broken rules, if it names any.
    """

    by_code: ClassVar[dict[str, type[ApiError]]] = {}

    def __init_subclass__(cls, *, code: str, **options: Any) -> None:
        super().__init_subclass__(**options)
        ApiError.by_code[code] = cls

    def __init__(
        self,
        *,
        status: int,
        code: str,
        message: str,
        request_id: str | None,
        retry_after: float | None,
        details: dict[str, Any],
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.request_id = request_id
        self.retry_after = retry_after
        self.details = details

    @property
    def fields(self) -> list[FieldError]:
        return [
            FieldError(error["field"], error["code"], error["message"], error.get("didYouMean"))
            for error in self.details.get("errors", [])
        ]

    def __str__(self) -> str:
        request = f", request {self.request_id}" if self.request_id else ""
        return f"{self.message} ({self.status} {self.code}{request})"


def error_of(response: httpx.Response, retry_after: float | None) -> ApiError:
    """The error that a response with a status of 400 or more describes. Its body has been read.

    A proxy in between may answer with something else than the service's JSON: then ``code`` is ``http_STATUS``.
    """
    try:
        body = response.json()
    except ValueError:
        body = None
    details = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    code = details.get("code")
    if not isinstance(code, str):
        code = f"http_{response.status_code}"
    message = details.get("message")
    return ApiError.by_code.get(code, ApiError)(
        status=response.status_code,
        code=code,
        message=message
        if isinstance(message, str)
        else f"The answer was {response.status_code} without a reason.",
        request_id=details.get("requestId") or response.headers.get("X-Request-ID"),
        retry_after=retry_after,
        details=details,
    )
