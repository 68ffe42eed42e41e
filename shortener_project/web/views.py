"""The service's own pages: the root, health and readiness, robots.txt, icons, and responses when no view matches.

To add a part to what ``/readyz`` checks, write a function that returns what is wrong, and list it in ``PARTS``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from math import inf
from typing import Any, NamedTuple

import orjson
from django.conf import settings
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.views.decorators.http import require_safe

from analytics.journal.backlog import backlog
from analytics.journal.writer import journal_error
from common.database import UNREADY_SECONDS, check_connection, seconds_ahead
from common.errors import NotFound, ServiceError
from common.host import primary, state
from common.host.metrics import count_database_error
from common.host.vitals import counting_problem
from common.http.client_address import is_internal
from common.http.urls import canonical_host
from common.rest.envelope import complete
from pages.refusals import BAD_REQUEST, FORM_EXPIRED, INTERNAL_ERROR, Refusal
from pages.responses import refuse
from redirects import refusals
from redirects.request_guard import is_unknown_host, missing_page, report_unknown_host
from redirects.views import root
from shortener_project.running.schema import schema_problem
from shortener_project.web.documents import is_missing_document, missing_document
from shortener_project.web.middleware import is_on_system_host

OK = "ok"
_DATABASE = "database"

log = logging.getLogger(__name__)


class Part(NamedTuple):
    """``problem`` returns what is wrong, in words for the operator, or None. An error that it raises is one, too.

    Parts that need the database are not examined while it does not respond.
    """

    name: str
    problem: Callable[[], str | None]
    needs_database: bool = False


def _failed_commits() -> str | None:
    if not primary.is_committing():
        return "it does not commit"
    return None if primary.has_standby() else "no synchronous standby confirms them"


def _silence() -> str | None:
    if (seconds := state.unheard_seconds()) <= state.HEARING_SECONDS:
        return None
    return "none heard" if seconds == inf else f"none heard for {seconds:.0f} s"


def _unwritable_journal() -> str | None:
    error = journal_error()
    return f"it cannot be written: {error.strerror}" if error else None


def _uncounted_clicks() -> str | None:
    clicks = backlog(settings.CLICKS_DIR)
    if clicks.waiting > settings.CLICK_BACKLOG_MB * 1024 * 1024:
        return "the backlog is above its limit"
    return counting_problem(clicks.oldest)


def _wrong_clock() -> str | None:
    ahead = seconds_ahead()
    return f"{ahead:+.0f} s from the database's" if abs(ahead) >= UNREADY_SECONDS else None


PARTS = (
    Part(_DATABASE, check_connection),
    Part("migrations", schema_problem, needs_database=True),
    Part("commits", _failed_commits, needs_database=True),
    Part("changes", _silence),
    Part("journal", _unwritable_journal),
    Part("clicks", _uncounted_clicks, needs_database=True),
    Part("clock", _wrong_clock, needs_database=True),
)


def examine(excluded: Collection[str] = ()) -> dict[str, str]:
    """The state of each part: OK, or what is wrong. Never raises."""
    states: dict[str, str] = {}
    for part in PARTS:
        if part.name in excluded:
            continue
        if part.needs_database and states.get(_DATABASE, OK) != OK:
            states[part.name] = "unknown without the database"
        else:
            states[part.name] = _state(part)
    return states


def _state(part: Part) -> str:
    try:
        return part.problem() or OK
    except Error as error:
        count_database_error("page")
        return f"the database does not respond: {error}".partition("\n")[0]
    except OSError as error:
        return str(error)
    except Exception as error:
        log.exception("The state of the %s is unknown", part.name)
        return f"unknown: {error!r}"


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    if not is_on_system_host(request):
        return root(request)
    return HttpResponseRedirect(settings.LOGIN_REDIRECT_URL)


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process responds. Does not check the database: restarting this process would not repair it."""
    return _status(200, status="ok")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether this instance is ready. The internal listener also shows the parts, and leaves out those that the query
    excludes: a client of the public port could otherwise find out which of them is not well.
    """
    shows_parts = is_internal(request.META)
    states = examine(request.GET.getlist("exclude") if shows_parts else ())
    is_ready = all(state == OK for state in states.values())
    return _status(
        200 if is_ready else 503,
        status="ok" if is_ready else "unavailable",
        **(states if shows_parts else {}),
    )


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


class _BadRequest(ServiceError):
    message = "The request is malformed."


class _InternalError(ServiceError):
    status = 500
    code = "internal_error"
    message = "Something went wrong on our side. The error has been recorded."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _respond(request, _BadRequest(), BAD_REQUEST)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Programs of the operator may name the internal listener as they like, so its hosts are never unknown."""
    host = canonical_host(request.META.get("HTTP_HOST", ""))
    refusal = refusals.NOT_FOUND if is_internal(request.META) else missing_page(host)
    if refusal is refusals.UNKNOWN_HOST:
        report_unknown_host(host)
    return _respond(request, NotFound(), refusal)


def internal_error(request: HttpRequest) -> HttpResponse:
    return _respond(request, _InternalError(), INTERNAL_ERROR)


def csrf_failure(request: HttpRequest, reason: str = "", **kwargs: Any) -> HttpResponse:
    return refuse(request, FORM_EXPIRED)


def _respond(request: HttpRequest, error: ServiceError, refusal: Refusal) -> HttpResponse:
    if error.status == 404 and is_missing_document(request):
        return missing_document(request)
    if request.path_info != "/api" and not request.path_info.startswith("/api/"):
        return refuse(request, refusal)
    # Other hosts do not name that of the service.
    accept, has_docs = request.META.get("HTTP_ACCEPT", ""), is_on_system_host(request)
    body, content_type = complete(error, accept, has_docs=has_docs)
    response = HttpResponse(orjson.dumps(body), content_type, status=error.status)
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response
