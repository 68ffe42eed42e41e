"""For which names a proxy may fetch certificates: Caddy asks before it does (on-demand TLS)."""

from __future__ import annotations

from django.conf import settings
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from common.client_address import LOOPBACK, comes_straight_from
from common.database import read_first
from common.hosts import canonical_host, is_address
from common.metrics import count_database_error
from domains.models import Domain, DomainStatus


@require_safe
def tls_allowed(request: HttpRequest) -> HttpResponse:
    """200 for the service's own host and for active domains, else 404: strangers must not make us fetch certificates.

    Only for callers inside. Whoever could ask from outside would learn which names are customers'.
    """
    host = canonical_host(request.GET.get("domain", ""))
    is_inside = comes_straight_from(request.META, [*LOOPBACK, *settings.TRUSTED_PROXIES])
    if not is_inside or host is None or is_address(host):
        raise Http404
    try:
        known = host in settings.BASE_HOSTS or read_first(lambda: _is_active(host))
    except Error:
        count_database_error("page")
        return HttpResponse(status=503, headers={"Retry-After": "2"})
    if not known:
        raise Http404
    return HttpResponse("yes\n", "text/plain", headers={"Cache-Control": "no-store"})


def _is_active(host: str) -> bool:
    return Domain.objects.filter(host=host, status=DomainStatus.ACTIVE).exists()
