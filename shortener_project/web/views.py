"""The service's own pages: the root, health and robots.txt."""

from __future__ import annotations

from math import inf

from django.conf import settings
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.views.decorators.http import require_safe

from analytics.journal.backlog import backlog
from common.clock import UNREADY_SECONDS, seconds_ahead
from common.database import read_first
from common.host import primary, state
from common.host.metrics import count_database_error
from common.http.hosts import canonical_host
from redirects.unknown_hosts import is_unknown_host
from redirects.views import root
from shortener_project.running.pending import missing_migrations
from shortener_project.web.middleware import is_on_system_host


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    if not is_on_system_host(request):
        return root(request)
    return HttpResponseRedirect("/dashboard/")


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process responds. Does not check the database: restarting this process would not repair it."""
    return _status(200, status="ok")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether this instance is ready: the database responds and commits, no migration is missing, the change listener
    is connected, clicks are being counted, and the clock is close to the database's.
    """
    try:
        pending = read_first(missing_migrations)
        waiting = 0 if pending else backlog(settings.CLICKS_DIR).waiting
        ahead = seconds_ahead()
    except Error:
        count_database_error("page")
        return _status(503, status="unavailable", database="unreachable")
    if pending:
        return _status(503, status="unavailable", database="migrations are missing")
    if (seconds := state.unheard_seconds()) > state.HEARING_SECONDS:
        changes = "none heard" if seconds == inf else f"none heard for {seconds:.0f} s"
        return _status(503, status="unavailable", database="ok", changes=changes)
    if not primary.is_committing():
        return _status(503, status="unavailable", database="does not commit")
    if waiting > settings.CLICK_BACKLOG_MB * 1024 * 1024:
        return _status(503, status="unavailable", database="ok", clicks="the backlog is above its limit")
    if abs(ahead) >= UNREADY_SECONDS:
        return _status(503, status="unavailable", database="ok", clock=f"{ahead:+.0f} s from the database's")
    return _status(200, status="ok", database="ok", clicks="ok")


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Links stay reachable for previews; X-Robots-Tag keeps them out of search indexes. Other hosts than the service's
    own have no such pages, and do not name them.
    """
    paths = (" /accounts/", " /api/", " /admin/") if is_on_system_host(request) else ("",)
    rules = "User-agent: *\n" + "".join(f"Disallow:{path}\n" for path in paths)
    return HttpResponse(rules, "text/plain", headers={"X-Content-Type-Options": "nosniff"})


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """There is no icon. Browsers request one anyway; 204 keeps them from reporting an error."""
    response = HttpResponse(status=204, headers={"Cache-Control": "public, max-age=86400"})
    del response["Content-Type"]
    return response


@require_safe
def brand_logo(request: HttpRequest) -> HttpResponse:
    """The operator's logo, on every host that has pages. Its URL in the pages changes with the image."""
    if settings.BRAND_LOGO is None or is_unknown_host(canonical_host(request.META.get("HTTP_HOST", ""))):
        raise Http404
    response = HttpResponse(settings.BRAND_LOGO, "image/png")
    response["Cache-Control"] = "public, max-age=86400"
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def _status(code: int, **words: str) -> HttpResponse:
    response = JsonResponse(words, status=code)
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    if code == 503:
        response["Retry-After"] = "2"
    return response
