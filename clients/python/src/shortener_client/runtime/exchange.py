"""One call with its repetitions, as decisions without input or output."""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import httpx

from .errors import ApiError, ConnectionFailed, NotModified, error_of
from .settings import Settings

# A proxy that got no answer either: the service may or may not have acted.
_GATEWAY_STATUSES = {502, 504}
# These say that the service refused the request without acting on it.
_REFUSED_STATUSES = {429, 503}
# Methods that may be repeated. DELETE is not among them: the repetition would find nothing.
_REPEATABLE = {"GET", "PUT"}
# The request never left.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_FIRST_WAIT = 0.5


@dataclass(frozen=True, slots=True)
class Call:
    """What an operation sends.

    ``idempotent``: the operation accepts an Idempotency-Key, so that repeating it is safe. ``credential``:
    `token` if a key is not accepted.
    """

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: Any = None
    idempotent: bool = False
    credential: Literal["any", "token", "none"] = "any"


class Exchange:
    """Ask for the ``request``, send it, and tell what came: either method returns the seconds to wait before the next
    attempt. ``after_response`` returns None when the response is the result.
    """

    def __init__(self, call: Call, settings: Settings) -> None:
        self._settings = settings
        self._attempts = 0
        headers = {name: value for name, value in call.headers.items() if value is not None}
        # Made once per call, so that every attempt has the same one.
        if call.idempotent and "Idempotency-Key" not in headers:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        self._repeatable = call.method in _REPEATABLE or "Idempotency-Key" in headers
        self.request: dict[str, Any] = {
            "method": call.method,
            "url": settings.base_url + call.path,
            "params": _query(call.query),
            "headers": {"User-Agent": settings.user_agent, **_credentials(call, settings), **headers},
        }
        if call.body is not None:
            self.request["json"] = call.body

    def after_failure(self, failure: httpx.TransportError) -> float:
        self._attempts += 1
        unsent = isinstance(failure, _NOT_SENT)
        if self._attempts > self._settings.retries or not (self._repeatable or unsent):
            raise ConnectionFailed(
                failure, attempts=self._attempts, may_have_happened=not unsent
            ) from failure
        return self._usual_wait()

    def after_response(self, response: httpx.Response) -> float | None:
        """The body of a response with a status of 300 or more has been read."""
        self._attempts += 1
        if response.is_success:
            return None
        if response.status_code == httpx.codes.NOT_MODIFIED:
            raise NotModified("Not modified.")
        named = _retry_after(response.headers.get("Retry-After"))
        error = error_of(response, named)
        if self._attempts > self._settings.retries or not self._may_repeat(error):
            raise error
        wait = self._usual_wait() if named is None else named
        if wait > self._settings.longest_wait:
            raise error
        return wait

    def _may_repeat(self, error: ApiError) -> bool:
        if error.status == httpx.codes.TOO_MANY_REQUESTS:
            return True
        # The first attempt, whose answer was lost, is still at work.
        if error.code == "idempotency_in_progress":
            return True
        return self._repeatable and error.status in _REFUSED_STATUSES | _GATEWAY_STATUSES

    def _usual_wait(self) -> float:
        """Doubles with each attempt; random, so that clients that failed together do not return together."""
        longest = min(_FIRST_WAIT * 2 ** (self._attempts - 1), self._settings.longest_wait)
        return random.uniform(longest / 2, longest)  # noqa: S311 # no secret


# A token of an issuer, which acts as a key, may be given as one.
_TOKEN_PREFIX = "eyJ"  # noqa: S105 # no token


def _credentials(call: Call, settings: Settings) -> dict[str, str]:
    headers: dict[str, str] = {}
    if call.credential == "none":
        return headers
    if settings.token is not None and (call.credential == "token" or settings.api_key is None):
        headers["Authorization"] = f"Bearer {settings.token}"
    elif settings.api_key is not None and settings.api_key.startswith(_TOKEN_PREFIX):
        headers["Authorization"] = f"Bearer {settings.api_key}"
    elif settings.api_key is not None:
        headers["X-API-Key"] = settings.api_key
    if settings.workspace is not None:
        headers["X-Workspace"] = settings.workspace
    return headers


def _query(values: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in values.items()
        if value is not None
    }


def _retry_after(value: str | None) -> float | None:
    """Seconds from a `Retry-After` header: a number, or a date (RFC 9110, 10.2.3). None if it is neither."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
