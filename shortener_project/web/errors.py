"""Responses when no view matches: the envelope under /api, a page or its JSON form everywhere else."""

from __future__ import annotations

from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse

from common.errors import NotFound, ServiceError
from common.http.client_address import is_internal
from common.http.current_request import request_id
from common.http.urls import canonical_host
from common.rest.envelope import error_body
from pages.refusals import BAD_REQUEST, FORM_EXPIRED, INTERNAL_ERROR, Refusal
from pages.responses import refuse
from redirects import refusals
from redirects.request_guard import is_unknown_host, report_unknown_host


class _BadRequest(ServiceError):
    message = "The request is malformed."


class _InternalError(ServiceError):
    status = 500
    code = "internal_error"
    message = "Something went wrong on our side. The error has been recorded."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _respond(request, _BadRequest(), BAD_REQUEST)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Programs of the operator may name the internal listener as they like, so its hosts are never unknown."""
    host = canonical_host(request.META.get("HTTP_HOST", ""))
    if is_internal(request.META) or not is_unknown_host(host):
        return _respond(request, NotFound(), refusals.NOT_FOUND)
    report_unknown_host(host)
    return _respond(request, NotFound(), refusals.UNKNOWN_HOST)


def internal_error(request: HttpRequest) -> HttpResponse:
    return _respond(request, _InternalError(), INTERNAL_ERROR, requestId=request_id.get())


def csrf_failure(request: HttpRequest, reason: str = "", **kwargs: Any) -> HttpResponse:
    return refuse(request, FORM_EXPIRED)


def _respond(request: HttpRequest, error: ServiceError, refusal: Refusal, **more: str | None) -> HttpResponse:
    if request.path_info != "/api" and not request.path_info.startswith("/api/"):
        return refuse(request, refusal)
    response = HttpResponse(orjson.dumps(error_body(error) | more), "application/json", status=error.status)
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response
