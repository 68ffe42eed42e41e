"""Assigns an id to every request that can change something: those of the API, and those of pages with a session.

Their log lines and the history of their changes have it, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from common.http.client_address import is_trusted
from common.http.current_request import request_id
from common.ids import new_public_id
from shortener_project.web.middleware import WITH_SESSION, GetResponse

_PREFIXES = ("/api/", *WITH_SESSION)
_FORMAT = re.compile(r"[A-Za-z0-9._-]{8,64}")


class RequestIdMiddleware:
    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info
        if not path.startswith(_PREFIXES) and path != "/api":
            return self.get_response(request)
        identifier = _identifier(request.META)
        token = request_id.set(identifier)
        try:
            response = self.get_response(request)
        finally:
            request_id.reset(token)
        response["X-Request-ID"] = identifier
        return response


def _identifier(meta: Mapping[str, Any]) -> str:
    """The id from a trusted proxy, or a new one."""
    proxy_id: str = meta.get("HTTP_X_REQUEST_ID", "")
    if _FORMAT.fullmatch(proxy_id) and is_trusted(meta.get("REMOTE_ADDR", ""), settings.TRUSTED_PROXIES):
        return proxy_id
    return str(new_public_id())
