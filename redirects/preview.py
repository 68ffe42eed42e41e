"""``GET /{code}+``: shows the destination of a link. A preview is not a click."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from analytics.visitors.visitor import visitor_from
from common.http.hosts import canonical_host
from links.destinations.lookup import Target, find_target, site_of
from pages.responses import prefers_json, refuse
from redirects import checks, refusals
from redirects.preview_pages import preview_body, preview_response
from redirects.request_guard import guarded
from redirects.routing.visit import Visit
from redirects.unknown_code_limit import link_key, refuse_network
from redirects.unknown_hosts import refuse_unknown_host
from redirects.views import follow, path_to_follow


@guarded("GET", "HEAD")
def preview(request: HttpRequest, code: str) -> HttpResponse:
    host = canonical_host(request.META.get("HTTP_HOST", ""))
    if host is None:
        return refuse_unknown_host(request, host)
    visitor = visitor_from(request.META, request.method or "", settings.TRUSTED_PROXIES)
    link = link_key(site_of(host), code.encode("ascii"))
    if (refused := refuse_network(request, visitor.address, link)) is not None:
        return refused
    target = find_target(host, code)
    if not isinstance(target, Target):
        # Record, limit and answer as for the link itself.
        return follow(request, code)
    visit, now = Visit.from_visitor(visitor, request.META), timezone.now()
    refusal = checks.decide(target, visit, now)
    if refusal is None and target.password is not None:
        # The form and the cookie of an unlocked link belong to the path of the link itself.
        refusal = refusals.PASSWORD
    if refusal is None and target.is_capped:
        refusal = refusals.CAPPED
    if refusal is not None:
        return refuse(request, refusal)
    location = checks.route_of(target, visit, now).location
    in_json = prefers_json(request)
    body = preview_body(path_to_follow(target, visit, code), location, in_json=in_json)
    return preview_response(body, in_json=in_json)
