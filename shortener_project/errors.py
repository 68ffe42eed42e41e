"""What answers when no view does: the envelope under /api, a page or its JSON form everywhere else."""

from __future__ import annotations

from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse

from common.envelope import error_body
from common.errors import NotFound, ServiceError
from redirects import refusals
from redirects.pages import refuse
from redirects.refusals import Refusal
from shortener_project.logs import request_id


class _BadRequest(ServiceError):
    message = "The request is malformed."


class _InternalError(ServiceError):
    status = 500
    code = "internal_error"
    message = "Something went wrong on our side. The error has been recorded."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, _BadRequest(), refusals.BAD_REQUEST)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, NotFound(), refusals.NOT_FOUND)


def internal_error(request: HttpRequest) -> HttpResponse:
    return _answer(request, _InternalError(), refusals.INTERNAL_ERROR, requestId=request_id.get())


def csrf_failure(request: HttpRequest, reason: str = "", **kwargs: Any) -> HttpResponse:
    return refuse(request, refusals.FORM_EXPIRED)


def _answer(request: HttpRequest, error: ServiceError, refusal: Refusal, **more: str | None) -> HttpResponse:
    if request.path_info != "/api" and not request.path_info.startswith("/api/"):
        return refuse(request, refusal)
    response = HttpResponse(orjson.dumps(error_body(error) | more), "application/json", status=error.status)
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response
