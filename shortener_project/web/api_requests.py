"""Logs every API request and records its latency."""

from __future__ import annotations

import logging
import re
import time
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from common.host.metrics import observe_api_request
from common.http.client_address import address_of_client
from shortener_project.web.middleware import GetResponse

_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")

log = logging.getLogger(__name__)


class ApiRequestMiddleware:
    """Logs the route, never the path or query, which may contain secrets that callers put there by mistake."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info != "/api" and not request.path_info.startswith("/api/"):
            return self.get_response(request)
        started = time.perf_counter()
        response = self.get_response(request)
        _report(request, response, time.perf_counter() - started)
        return response


def _report(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    # Without a matching route, do not use the path: each path would become a separate metric.
    route = documented_route(request.resolver_match.route) if request.resolver_match else "unmatched"
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
        fields["address"] = address_of_client(request)
    log.info("API request", extra={"fields": fields})


@lru_cache(maxsize=1000)
def documented_route(route: str) -> str:
    return "/" + _PARAMETER.sub(r"{\1}", route)
