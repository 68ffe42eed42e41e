"""The service's own pages: the root, health and robots.txt."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.views.decorators.http import require_safe

from common.host.internal_listener import is_internal
from common.http.hosts import canonical_host
from redirects.request_guard import is_unknown_host
from redirects.views import root
from shortener_project.web.middleware import is_on_system_host
from shortener_project.web.readiness import OK, examine


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
