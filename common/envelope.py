"""The one shape of every answer under /api: ``{success, message?, data?}`` and the errors beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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

from common.database import is_outage
from common.errors import (
    BadBody,
    FieldError,
    Forbidden,
    InvalidFields,
    NotFound,
    ServiceError,
    TooManyAttempts,
    Unavailable,
)
from common.metrics import count_database_error


def ok(
    data: Mapping[str, Any] | None = None, message: str | None = None, *, status: int = 200, **top_level: Any
) -> Response:
    """A success; ``top_level`` holds the keys that the interface puts beside ``data``."""
    body: dict[str, Any] = {"success": True, **top_level}
    if message is not None:
        body["message"] = message
    if data is not None:
        body["data"] = data
    return Response(body, status=status)


def error_body(error: ServiceError) -> dict[str, Any]:
    body: dict[str, Any] = {"success": False, "message": error.message, "code": error.code}
    if isinstance(error, InvalidFields):
        body["errors"] = [
            {"field": each.field, "code": each.code, "message": each.message} for each in error.errors
        ]
    if error.data is not None:
        body["data"] = dict(error.data)
    return body


# What a 401 must name (RFC 9110 11.6.1). The key header has no registered scheme, so it is Bearer for both.
WWW_AUTHENTICATE = 'Bearer realm="api"'


class JSONRenderer(BaseRenderer):
    media_type = "application/json"
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
    """The API answers JSON whatever ``Accept`` says; a body must still name its media type (else 415)."""

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        media_type = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == media_type), None)

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's ``EXCEPTION_HANDLER``. None for what is a bug: Django logs it and ``handler500`` answers."""
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
    return Response(error_body(error), status=error.status, headers=headers)


def as_service_error(exc: Exception) -> ServiceError | None:
    if isinstance(exc, ServiceError):
        return exc
    if isinstance(exc, Http404):
        return NotFound()
    if isinstance(exc, DjangoPermissionDenied):
        return Forbidden()
    if isinstance(exc, UnreadablePostError):
        return BadBody("The request body ended early.")
    if is_outage(exc):
        return Unavailable()
    if isinstance(exc, exceptions.ValidationError):
        return invalid(exc)
    if isinstance(exc, exceptions.APIException):
        return _from_drf(exc)
    return None


def invalid(exc: exceptions.ValidationError) -> InvalidFields:
    return InvalidFields(_field_errors(exc.get_full_details()))


def _from_drf(exc: exceptions.APIException) -> ServiceError:
    error = ServiceError(str(exc.detail), code=_CODES.get(exc.status_code, "error"))
    error.status = exc.status_code
    return error


_CODES = {
    400: "bad_request",
    401: "not_authenticated",
    403: "permission_denied",
    404: "not_found",
    405: "method_not_allowed",
    415: "unsupported_media_type",
}


def _field_errors(detail: Any, path: str = "") -> Iterator[FieldError]:
    """Flattens DRF's nested details into one entry per broken rule, each under its dotted path."""
    if isinstance(detail, dict) and isinstance(detail.get("message"), str) and "code" in detail:
        yield FieldError(path or "body", str(detail["code"]), detail["message"])
    elif isinstance(detail, dict):
        for key, value in detail.items():
            yield from _field_errors(
                value, path if key == "non_field_errors" else f"{path}.{key}".lstrip(".")
            )
    else:
        for item in detail:
            yield from _field_errors(item, path)
