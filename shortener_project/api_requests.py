"""What surrounds every request of the API: its id, one line in the log, and its time in the metrics."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from common.client_address import client_address, is_trusted
from common.ids import new_public_id
from common.metrics import observe_api_request
from shortener_project.logs import request_id
from shortener_project.middleware import GetResponse

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")

log = logging.getLogger(__name__)


class ApiRequestMiddleware:
    """The line names the route, never the path or the query, where callers put what should not be there."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info != "/api" and not request.path_info.startswith("/api/"):
            return self.get_response(request)
        began = time.perf_counter()
        identifier = _identifier(request.META)
        token = request_id.set(identifier)
        try:
            response = self.get_response(request)
            _tell(request, response, time.perf_counter() - began)
        finally:
            request_id.reset(token)
        response["X-Request-ID"] = identifier
        return response


def _identifier(meta: Mapping[str, Any]) -> str:
    """What a proxy of ours has called the request, or a name of our own."""
    given: str = meta.get("HTTP_X_REQUEST_ID", "")
    if _REQUEST_ID.fullmatch(given) and is_trusted(meta.get("REMOTE_ADDR", ""), settings.TRUSTED_PROXIES):
        return given
    return str(new_public_id())


def _tell(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    # Where no route answers, none may be named after what was asked for: each would be a metric of its own.
    route = _as_documented(request.resolver_match.route) if request.resolver_match else "unmatched"
    observe_api_request(route, response.status_code, seconds)
    fields = {
        "method": request.method,
        "route": route,
        "status": response.status_code,
        "milliseconds": round(seconds * 1000, 1),
    }
    if (account := getattr(getattr(request, "user", None), "public_id", None)) is not None:
        fields["account"] = str(account)
    if response.status_code >= 400 and "code" in (data := getattr(response, "data", None) or {}):
        fields["code"] = data["code"]
    if settings.LOG_ADDRESSES:
        fields["address"] = client_address(
            request.META.get("REMOTE_ADDR", ""),
            request.META.get("HTTP_X_FORWARDED_FOR", ""),
            settings.TRUSTED_PROXIES,
        )
    log.info("API request", extra={"fields": fields})


@lru_cache(maxsize=1000)
def _as_documented(route: str) -> str:
    return "/" + _PARAMETER.sub(r"{\1}", route)
