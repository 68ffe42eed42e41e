"""The pages of the service itself: home, health and robots.txt."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.db import Error, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from analytics.backlog import backlog
from common.database import read_first
from common.metrics import count_database_error
from redirects.pages import page
from redirects.views import root
from shortener_project.middleware import is_on_system_host


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    if not is_on_system_host(request):
        return root(request)
    return page(request, "shortener_project/home.html", {"base_url": settings.BASE_URL})


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers. Says nothing of the database: restarting this process would not mend that."""
    return _status(200, status="ok")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether this instance should get traffic: the database answers, no migration is missing, clicks are counted."""
    try:
        pending = read_first(_missing_migrations)
        waiting = 0 if pending else backlog(settings.CLICKS_DIR).waiting
    except Error:
        count_database_error("page")
        return _status(503, status="unavailable", database="unreachable")
    if pending:
        return _status(503, status="unavailable", database="migrations are missing")
    if waiting > settings.CLICK_BACKLOG_MB * 1024 * 1024:
        return _status(503, status="unavailable", database="ok", clicks="the backlog is above its limit")
    return _status(200, status="ok", database="ok", clicks="ok")


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Links stay reachable, as previews need them; that they are not indexed is said by X-Robots-Tag."""
    rules = "User-agent: *\nDisallow: /api/\nDisallow: /admin/\n"
    return HttpResponse(rules, "text/plain", headers={"X-Content-Type-Options": "nosniff"})


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """There is none, which browsers that ask for one unbidden need not take for an error."""
    response = HttpResponse(status=204, headers={"Cache-Control": "public, max-age=86400"})
    del response["Content-Type"]
    return response


def _missing_migrations() -> frozenset[tuple[str, str]]:
    return _migrations() - MigrationRecorder(connection).applied_migrations().keys()


@cache
def _migrations() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None).graph.nodes)


def _status(code: int, **words: str) -> HttpResponse:
    response = JsonResponse(words, status=code)
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    if code == 503:
        response["Retry-After"] = "2"
    return response
