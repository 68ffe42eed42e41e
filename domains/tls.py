"""Decides for which names Caddy may request certificates (on-demand TLS)."""

from __future__ import annotations

from django.conf import settings
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from common.host.metrics import count_database_error
from common.http.client_address import LOOPBACK, is_internal_client
from common.http.urls import canonical_host, is_address
from domains.selectors import active_domain


@require_safe
def tls_allowed(request: HttpRequest) -> HttpResponse:
    """Return 200 for the service's own hosts and active domains, otherwise 404.

    Strangers must not make the proxy request certificates. Only internal callers get an answer: outside callers
    could learn which names are customers'.
    """
    host = canonical_host(request.GET.get("domain", ""))
    is_inside = is_internal_client(request.META, [*LOOPBACK, *settings.TRUSTED_PROXIES])
    if not is_inside or host is None or is_address(host):
        raise Http404
    try:
        is_allowed = host in settings.BASE_HOSTS or active_domain(host) is not None
    except Error:
        count_database_error("page")
        return HttpResponse(status=503, headers={"Retry-After": "2"})
    if not is_allowed:
        raise Http404
    return HttpResponse("yes\n", "text/plain", headers={"Cache-Control": "no-store"})
