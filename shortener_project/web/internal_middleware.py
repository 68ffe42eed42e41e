"""Separates the paths of the internal listener from those of the public port."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse

from common.host.internal_listener import is_internal
from shortener_project.web.middleware import GetResponse

_BOTH = frozenset({"/healthz", "/readyz"})


class InternalListenerMiddleware:
    """Serves ``/metrics`` and ``/internal/`` only on the internal listener, and every other path except the health
    probes only on the public port.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info
        if path not in _BOTH:
            is_internal_path = path in ("/metrics", "/internal") or path.startswith("/internal/")
            if is_internal_path != is_internal(request.META):
                raise Http404
        return self.get_response(request)
