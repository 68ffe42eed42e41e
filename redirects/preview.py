"""``GET /{code}+``: where a link leads, without going there. Looking is no click."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from analytics.visitor import visitor_from
from common.hosts import canonical_host
from links.destinations import Target, find_target
from redirects import access, refusals
from redirects.guard import guarded
from redirects.pages import page, prefers_json, refuse
from redirects.views import follow


@guarded("GET", "HEAD")
def preview(request: HttpRequest, code: str) -> HttpResponse:
    host = canonical_host(request.META.get("HTTP_HOST", ""))
    target = find_target(host, code) if host else None
    if not isinstance(target, Target):
        # Asked for in vain, as on the link's own address: recorded, limited and answered there.
        return follow(request, code)
    visitor = visitor_from(request.META, request.method or "", settings.TRUSTED_PROXIES)
    refusal = access.decide(target, visitor, timezone.now())
    if refusal is None and target.password is not None:
        # The form is at the link itself, and so is the cookie of those who have filled it in.
        refusal = refusals.PASSWORD
    return _show(request, code, target) if refusal is None else refuse(request, refusal)


def _show(request: HttpRequest, code: str, target: Target) -> HttpResponse:
    """In ASCII, as it is sent: a host in another script cannot pass for one that it resembles."""
    if prefers_json(request):
        response: HttpResponse = JsonResponse({"success": True, "destination": target.location})
        response["Cache-Control"] = "no-store"
        response["X-Content-Type-Options"] = "nosniff"
    else:
        context = {"code": code, "destination": target.location, "host": urlsplit(target.location).netloc}
        response = page(request, "redirects/preview.html", context)
    response["X-Robots-Tag"] = "noindex"
    return response
