"""The common shape of every response under /api: ``{success, message?, data?, warnings?}``, and of its errors.

`error_body` is the error itself, also that of an item of a bulk call. `complete` adds what a whole response has.

A view calls ``warn(request, field, code, message)`` at any time before it returns, if the service carries out the
request but the client should know something. The warnings become ``warnings: [{field, code, message}]`` beside
``data``. Error responses have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

import orjson
from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.db import Error
from django.http import Http404, UnreadablePostError
from rest_framework import exceptions
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from common.database import has_unknown_outcome, is_outage, is_reference_gone, is_storage_full, lacks_standby
from common.error_catalogue import CATALOGUE, docs_address
from common.errors import (
    MAX_REPORTED,
    BadBody,
    FieldError,
    Forbidden,
    InvalidFields,
    NotFound,
    ServiceError,
    StorageFull,
    TooManyAttempts,
    Unavailable,
)
from common.host.metrics import count_database_error
from common.http.current_request import request_id
from common.ids import parse_public_id
from common.rest.fields import MORE_ERRORS


def ok(
    data: Mapping[str, Any] | None = None, message: str | None = None, *, status: int = 200, **top_level: Any
) -> Response:
    """A successful response. ``top_level`` holds keys that the contract puts beside ``data``."""
    body: dict[str, Any] = {"success": True, **top_level}
    if message is not None:
        body["message"] = message
    if data is not None:
        body["data"] = data
    return Response(body, status=status)


def error_body(error: ServiceError, max_errors: int = MAX_REPORTED) -> dict[str, Any]:
    """``moreErrors`` is the number of broken rules beyond the first ``max_errors``; absent if it is 0."""
    body: dict[str, Any] = {"success": False, "message": error.message, "code": error.code}
    if isinstance(error, InvalidFields):
        shown = error.errors[:max_errors]
        body["errors"] = [broken.as_json() for broken in shown]
        if more := error.more + len(error.errors) - len(shown):
            body["moreErrors"] = more
    if isinstance(error, TooManyAttempts):
        body["retryAfter"] = error.retry_after
    if error.data is not None:
        body["data"] = dict(error.data)
    return body


JSON, PROBLEM_JSON = "application/json", "application/problem+json"
_PROBLEM = re.compile(r"(?:^|,)\s*application/problem\+json\s*(;[^,]*)?(?=,|$)", re.IGNORECASE)
_MAX_ACCEPT = 1_000
_NOT_ACCEPTED = re.compile(r";\s*q=0(\.0*)?\s*(;|$)", re.IGNORECASE)


class ErrorContent(NamedTuple):
    body: dict[str, Any]
    content_type: str


def complete(error: ServiceError, accept: str, *, has_docs: bool = True) -> ErrorContent:
    """The whole error response: where to read about the code unless ``has_docs`` is false, and the id of the request.

    A client whose header ``Accept`` names the media type of problem details gets these (RFC 9457).
    """
    body, docs, identifier = error_body(error), docs_address(error.code), request_id.get()
    known_request = {} if identifier is None else {"requestId": identifier}
    asked = _PROBLEM.search(accept[:_MAX_ACCEPT])
    if asked is None or _NOT_ACCEPTED.search(asked[1] or ""):
        return ErrorContent({**body, **({"docs": docs} if has_docs else {}), **known_request}, JSON)
    entry = CATALOGUE.get(error.code)
    problem = {
        "type": docs if has_docs else "about:blank",
        "title": HTTPStatus(error.status).phrase if entry is None else entry.title,
        "status": error.status,
        "detail": body.pop("message"),
    }
    if identifier is not None and parse_public_id(identifier):
        problem["instance"] = f"urn:uuid:{identifier}"
    return ErrorContent({**problem, **body, **known_request}, PROBLEM_JSON)


# Characters of a field's path in an error: the client chooses the names of unknown fields.
MAX_PATH = 200
_MAX_MESSAGE = 500

# The challenge of a 401 (RFC 9110 11.6.1). The key header has no registered scheme, so both use Bearer.
WWW_AUTHENTICATE = 'Bearer realm="api"'


_UNKNOWN_OUTCOME = (
    "The database did not confirm this in time, so it may or may not have been done. "
    "Requests with an Idempotency-Key can safely be sent again."
)
_NO_STANDBY = (
    "No second database server confirms changes at present, so none are accepted. Try again shortly."
)


class JSONRenderer(BaseRenderer):
    media_type = JSON
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else orjson.dumps(data, default=str)


class JSONOnly(BaseContentNegotiation):
    """Always respond with JSON, whatever ``Accept`` says. A body must declare its media type (else 415)."""

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        media_type = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == media_type), None)

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's ``EXCEPTION_HANDLER``. Returns None for a bug: Django logs it and calls ``handler500``."""
    if isinstance(exc, Error):
        count_database_error("api")
    error = as_service_error(exc)
    if error is None:
        return None
    headers = {}
    if error.status == 401:
        headers["WWW-Authenticate"] = WWW_AUTHENTICATE
    if error.status == 405:
        headers["Allow"] = ", ".join(context["view"].allowed_methods)
    if isinstance(error, TooManyAttempts):
        headers |= error.headers
    if isinstance(error, Unavailable):
        headers["Retry-After"] = str(error.retry_after)
    body, content_type = complete(error, context["request"].META.get("HTTP_ACCEPT", ""))
    return Response(body, status=error.status, headers=headers, content_type=content_type)


def as_service_error(exc: Exception) -> ServiceError | None:
    if isinstance(exc, ServiceError):
        return exc
    if isinstance(exc, Http404):
        return NotFound()
    if isinstance(exc, DjangoPermissionDenied):
        return Forbidden()
    if isinstance(exc, UnreadablePostError):
        return BadBody("The request body ended early.")
    if has_unknown_outcome(exc):
        return Unavailable(_UNKNOWN_OUTCOME)
    if lacks_standby(exc):
        return Unavailable(_NO_STANDBY)
    if is_outage(exc):
        return Unavailable()
    if is_storage_full(exc):
        return StorageFull()
    if is_reference_gone(exc):
        return NotFound("An object that this request needs has been deleted.")
    if isinstance(exc, exceptions.ValidationError):
        return invalid(exc)
    if isinstance(exc, exceptions.APIException):
        return _from_drf(exc)
    return None


def invalid(exc: exceptions.ValidationError) -> InvalidFields:
    errors, more = [], 0
    for path, detail in _broken_rules(exc.detail):
        if detail.code == MORE_ERRORS:
            more += int(detail)
        else:
            # Both may repeat the client's input: a key of megabytes, or an unknown choice.
            errors.append(FieldError(path[:MAX_PATH], str(detail.code), str(detail)[:_MAX_MESSAGE]))
    return InvalidFields(errors, more=more)


class CredentialRefused(exceptions.AuthenticationFailed):
    """A subclass of DRF's exception, so that the request is counted before it is refused."""

    code: str


class KeyExpired(CredentialRefused):
    code = "key_expired"
    default_detail = "The API key has expired."


class TokenRefused(CredentialRefused):
    """The same for every reason: the owner of the workspace knows the issuer, and nobody else needs to."""

    code = "token_refused"
    default_detail = "The workspace in X-Workspace does not accept this token, or it is not valid now."


def _from_drf(exc: exceptions.APIException) -> ServiceError:
    code = (
        exc.code if isinstance(exc, CredentialRefused) else DRF_CODES.get(exc.status_code, ServiceError.code)
    )
    error = ServiceError(str(exc.detail), code=code)
    error.status = exc.status_code
    return error


DRF_CODES = {
    401: "not_authenticated",
    403: "permission_denied",
    404: "not_found",
    405: "method_not_allowed",
    415: "unsupported_media_type",
}


def _broken_rules(detail: Any, path: str = "") -> Iterator[tuple[str, exceptions.ErrorDetail]]:
    """Flattens DRF's nested details into one entry per broken rule, each with its dotted path."""
    if isinstance(detail, exceptions.ErrorDetail):
        yield path or "body", detail
    elif isinstance(detail, dict):
        for key, value in detail.items():
            yield from _broken_rules(
                value, path if key == "non_field_errors" else f"{path}.{key}".lstrip(".")
            )
    else:
        for item in detail:
            yield from _broken_rules(item, path)


_ATTRIBUTE = "response_warnings"


class ResponseWarning(NamedTuple):
    """``field`` is a path in the request body, or a parameter of the query."""

    field: str
    code: str
    message: str


def warn(request: Request, field: str, code: str, message: str) -> None:
    add_warnings(request, [ResponseWarning(field, code, message)])


def add_warnings(request: Request, warnings: Iterable[ResponseWarning]) -> None:
    """Adds each warning once: work that is retried after a deadlock warns again."""
    # A dict keeps the order, and a request can have a thousand warnings.
    request.__dict__.setdefault(_ATTRIBUTE, {}).update(dict.fromkeys(warnings))


def attach_warnings(request: Request, response: Response) -> None:
    """Move the request's warnings into the response. `ApiViewSet` calls this for every response.

    Files have no place for warnings, and errors report only errors; neither gets any. The stored response to an
    Idempotency-Key keeps its warnings.
    """
    warnings = request.__dict__.pop(_ATTRIBUTE, None)
    if not warnings or response.status_code >= 400 or not isinstance(getattr(response, "data", None), dict):
        return
    if "warnings" not in response.data:
        response.data |= shown_warnings(list(warnings))


def shown_warnings(warnings: list[ResponseWarning], most: int = MAX_REPORTED) -> dict[str, Any]:
    """The keys of a response, or of one result in it. ``moreWarnings`` counts the warnings beyond ``most``."""
    if not warnings:
        return {}
    shown: dict[str, Any] = {"warnings": [warning._asdict() for warning in warnings[:most]]}
    if len(warnings) > most:
        shown["moreWarnings"] = len(warnings) - most
    return shown
