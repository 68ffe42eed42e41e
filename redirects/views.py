"""Following a link, ``GET /{code}``: `_answer` has the steps. Also its preview, ``GET /{code}+``, and a domain's root.

The fast lane answers the same from memory, with the same bytes and the same records.
"""

from __future__ import annotations

import time

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_protect

from analytics.journal import capture
from analytics.visitors.visitor import FOLLOWING, Visitor, visitor_from
from bans.services import is_host_banned
from common.errors import TooManyAttempts
from common.host.metrics import observe_redirect
from common.http.languages import page_language
from common.http.short_urls import short_url
from common.http.urls import canonical_host
from domains.selectors import active_domain
from links.availability import Closed
from links.codes import SCAN_MARKER
from links.destinations.lookup import Target, UnknownCode, find_target, site_of
from links.guess_counts import guesses
from pages.refusals import INTERNAL_ERROR, Refusal
from pages.responses import page, prefers_json, refuse, refuse_attempts, sends_json
from redirects import checks, refusals
from redirects.password import is_unlocked, json_password, remember_unlocked, try_password
from redirects.previews import card_page, preview_body, preview_response, shows_card
from redirects.redirect_headers import elsewhere_headers, redirect_headers
from redirects.request_guard import guarded, link_key, refuse_network, refuse_unknown_host, spend_guess
from redirects.router import Route
from redirects.visit import Visit

# The status after a right password in the form.
_UNLOCKED = 303


def follow(request: HttpRequest, code: str) -> HttpResponse:
    started_at = time.perf_counter()
    label = INTERNAL_ERROR.reason
    try:
        response = _answer(request, code)
        label = _metrics_label(response)
        return response
    finally:
        observe_redirect("django", label, time.perf_counter() - started_at)


@guarded("GET", "HEAD", "POST")
def _answer(request: HttpRequest, code: str) -> HttpResponse:
    # 1. The host, the visitor, and whether the visitor's network may ask for this link.
    host = canonical_host(request.META.get("HTTP_HOST", ""))
    if host is None:
        return refuse_unknown_host(request, host)
    visitor = visitor_from(request.META, request.method or "", settings.TRUSTED_PROXIES)
    link = link_key(site_of(host), code.encode("ascii"))
    if (refused := refuse_network(request, visitor.address, link)) is not None:
        return refused
    # 2. The link.
    target = find_target(host, code)
    if target is None:
        return refuse_unknown_host(request, host)
    if isinstance(target, UnknownCode):
        if (refused := spend_guess(request, visitor.address)) is not None:
            return refused
        capture.record_unknown_code(visitor, target.domain_id, code)
        if target.elsewhere:
            return _redirect_elsewhere(request, target.elsewhere)
        return _refuse_unknown_code(request, target.pages) if target.is_served else _unserved(request, host)
    # 3. Whether this visitor may follow it now: the checks, then the password.
    visit, now = Visit.from_visitor(visitor, request.META), timezone.now()
    refusal = checks.decide(target, visit, now)
    if refusal is not None:
        return _refuse(request, target, visitor, refusal)
    if (response := _before_following(request, target, visitor, visit, code)) is not None:
        return response
    # 4. The destination: rules, split or target.
    route = checks.route_of(target, visit, now)
    # 5. The record of the visit, which is stored before the answer is sent. With a click limit, the click is claimed.
    if target.is_capped and visitor.kind in FOLLOWING:
        is_shared = target.max_clicks_per_visitor is not None
        closed = capture.record_claimed_click(
            visitor, target.link_id, is_shared=is_shared, branch=route.branch
        )
        if closed is Closed.DELETED:
            return _refuse_unknown_code(request, target.pages)
        if closed is not None:
            return _refuse(request, target, visitor, refusals.OF_CLOSED[closed])
        guesses().followed.remember(visitor.address, link)
        return _redirect(request, target, route)
    if shows_card(target, visitor):
        capture.record_visit(visitor, target.link_id)
        return _with_label(card_page(request, target, short_url(site_of(host) or None, code)), "card")
    capture.record_visit(visitor, target.link_id, route.branch)
    guesses().followed.remember(visitor.address, link)
    return _without_destination(request) if target.is_capped else _redirect(request, target, route)


def _refuse(
    request: HttpRequest, target: Target, visitor: Visitor, refusal: Refusal, **options: str
) -> HttpResponse:
    capture.record_refusal(visitor, target.link_id, refusal.reason)
    if url := checks.elsewhere(target, refusal):
        return _redirect_elsewhere(request, url, target.referrer_policy)
    return refuse(request, refusals.in_words_of(target.pages, refusal), **options)


def _unserved(request: HttpRequest, host: str) -> HttpResponse:
    """Refuse a code of a domain that is not active."""
    return _with_label(refuse_unknown_host(request, host), "unknown_code")


def _refuse_unknown_code(request: HttpRequest, pages: str | None) -> HttpResponse:
    response = refuse(request, refusals.in_words_of(pages, refusals.NOT_FOUND))
    return _with_label(response, "unknown_code")


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
        return refuse(request, refusals.in_words_of(target.pages, refusal))
    location = checks.route_of(target, visit, now).location
    in_json = prefers_json(request)
    language = page_language(request.headers.get("Accept-Language", ""))
    path = _path_to_follow(target, visit, code)
    body = preview_body(path, location, in_json=in_json, language=language)
    return preview_response(body, in_json=in_json)


@guarded("GET", "HEAD")
def root(request: HttpRequest) -> HttpResponse:
    """The root path of a host that is not one of the service's own."""
    host = canonical_host(request.META.get("HTTP_HOST", ""))
    domain = active_domain(host) if host else None
    if domain is None:
        return refuse_unknown_host(request, host)
    url = domain.root_url
    if not url or is_host_banned(url):
        return refuse(request, refusals.in_words_of(domain.pages_json, refusals.NOT_FOUND))
    return _redirect_elsewhere(request, url)


def _redirect_elsewhere(request: HttpRequest, url: str, referrer_policy: str | None = None) -> HttpResponse:
    """Redirect to the fallback of a domain or link. Not a click."""
    response = HttpResponse(status=_status(request, 302))
    del response["Content-Type"]
    for name, value in elsewhere_headers(url, referrer_policy).items():
        response[name] = value
    return _with_label(response, "elsewhere")


def _redirect(request: HttpRequest, target: Target, route: Route) -> HttpResponse:
    response = HttpResponse(status=_status(request, target.redirect_type))
    del response["Content-Type"]
    for name, value in redirect_headers(target, route.location).items():
        response[name] = value
    return _with_label(response, str(target.redirect_type))


def _without_destination(request: HttpRequest) -> HttpResponse:
    """Answer a visit of a link with a click limit that is not a click: a HEAD request, a prefetch or a crawler.

    A browser may show the prefetched page after a later click, so the page links to the same URL.
    """
    if prefers_json(request):
        response: HttpResponse = JsonResponse({"success": True, "message": refusals.CAPPED.message})
        response["Cache-Control"] = "no-store"
        response["X-Content-Type-Options"] = "nosniff"
    else:
        context = {"refusal": refusals.CAPPED, "path": request.get_full_path()}
        response = page(request, "redirects/without_destination.html", context)
    response["X-Robots-Tag"] = "noindex"
    return _with_label(response, "withheld")


def _status(request: HttpRequest, status: int) -> int:
    """Return 303 for a POST: after a 301 or 302, some clients would send the password on to the destination."""
    return 303 if request.method == "POST" else status


def _before_following(
    request: HttpRequest, target: Target, visitor: Visitor, visit: Visit, code: str
) -> HttpResponse | None:
    """Return the response to a request that does not follow the link: the password is missing or wrong, or it is a
    form. None: follow the link.
    """
    if sends_json(request):
        return _check_json_password(request, target, visitor)
    if target.password is not None and not is_unlocked(request, target):
        return _ask_password(request, target, visitor, visit, code)
    # Reloading the page after a submission sends the form again.
    return _redirect_to_self(target, visit, code) if request.method == "POST" else None


def _check_json_password(request: HttpRequest, target: Target, visitor: Visitor) -> HttpResponse | None:
    """Check the password that a program sends. It counts and is limited like the form. Return None to go on."""
    try:
        password = json_password(request)
    except ValueError:
        return refuse(request, refusals.NO_PASSWORD_OBJECT)
    if target.password is None or is_unlocked(request, target):
        return None
    if password is None:
        return _refuse(request, target, visitor, refusals.PASSWORD)
    return _refuse_wrong_password(request, target, visitor, password)


@csrf_protect
def _ask_password(
    request: HttpRequest, target: Target, visitor: Visitor, visit: Visit, code: str
) -> HttpResponse:
    form = "redirects/password.html"
    if request.method != "POST":
        return _refuse(request, target, visitor, refusals.PASSWORD, template=form)
    password = request.POST.get("password", "")
    if (refused := _refuse_wrong_password(request, target, visitor, password, template=form)) is not None:
        return refused
    response = _redirect_to_self(target, visit, code)
    remember_unlocked(response, request, target, code)
    return response


def _refuse_wrong_password(
    request: HttpRequest, target: Target, visitor: Visitor, password: str, **options: str
) -> HttpResponse | None:
    try:
        is_correct = try_password(target, password, visitor.address)
    except TooManyAttempts as error:
        capture.record_refusal(visitor, target.link_id, refusals.RATE_LIMITED.reason)
        return refuse_attempts(request, refusals.RATE_LIMITED, error)
    return None if is_correct else _refuse(request, target, visitor, refusals.WRONG_PASSWORD, **options)


def _redirect_to_self(target: Target, visit: Visit, code: str) -> HttpResponse:
    """Post/Redirect/Get: the next GET is checked, counted and answered like any other visit."""
    response = HttpResponse(status=303)
    response["Location"] = _path_to_follow(target, visit, code)
    response["Cache-Control"] = "no-store"
    return response


def _path_to_follow(target: Target, visit: Visit, code: str) -> str:
    """Return the path of the link, with the visit's query if it may decide where the link leads."""
    query = SCAN_MARKER if visit.scanned else ""
    if target.routing is not None and visit.query.isascii() and visit.query.isprintable():
        query = visit.query
    return f"/{code}?{query}" if query else f"/{code}"


def _with_label(response: HttpResponse, label: str) -> HttpResponse:
    """Set the response's label in the metrics, if it is neither its status nor the reason of a refusal."""
    response.metrics_label = label  # type: ignore[attr-defined] # attribute of this project
    return response


def _metrics_label(response: HttpResponse) -> str:
    status = "unlocked" if response.status_code == _UNLOCKED else str(response.status_code)
    return getattr(response, "metrics_label", response.headers.get("X-Refusal-Reason", status))
