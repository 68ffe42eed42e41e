"""Notices requests of a proxy that is missing from TRUSTED_PROXIES. The fast lane does the same by itself."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from common.host.internal_listener import is_internal
from common.host.untrusted_proxies import report_if_untrusted_proxy
from shortener_project.web.middleware import GetResponse


class UntrustedProxyMiddleware:
    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # The internal listener does not use the header, whoever sends it.
        if request.META.get("HTTP_X_FORWARDED_FOR") and not is_internal(request.META):
            report_if_untrusted_proxy(request.META.get("REMOTE_ADDR", ""), tuple(settings.TRUSTED_PROXIES))
        return self.get_response(request)
