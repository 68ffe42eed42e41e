"""The public door: ``GET /{code}`` on the host that the link belongs to."""

from __future__ import annotations

import time

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_protect

from analytics import capture
from analytics.visitor import Visitor, visitor_from
from common.errors import TooManyAttempts
from common.hosts import canonical_host
from common.metrics import observe_redirect
from domains.visitors import is_host_banned, root_url_of
from links.destinations import Target, UnknownCode, find_target
from links.scans import SCAN_MARKER
from redirects import access, refusals
from redirects.answers import redirect_headers
from redirects.guard import guarded
from redirects.guesses import refuse_guesses
from redirects.outcomes import mark, outcome_of
from redirects.pages import refuse, refuse_attempts
from redirects.password import is_unlocked, remember_unlocked, try_password
from redirects.refusals import Refusal


def follow(request: HttpRequest, code: str) -> HttpResponse:
    began = time.perf_counter()
    outcome = refusals.INTERNAL_ERROR.reason
    try:
        response = _answer(request, code)
        outcome = outcome_of(response)
        return response
    finally:
        observe_redirect("django", outcome, time.perf_counter() - began)


@guarded("GET", "HEAD", "POST")
def _answer(request: HttpRequest, code: str) -> HttpResponse:
    host = canonical_host(request.META.get("HTTP_HOST", ""))
    target = find_target(host, code) if host else None
    if target is None:
        return refuse(request, refusals.NOT_FOUND)
    visitor = visitor_from(request.META, request.method or "", settings.TRUSTED_PROXIES)
    if isinstance(target, UnknownCode):
        capture.record_unknown_code(visitor, target.domain_id)
        if (refused := refuse_guesses(request, visitor.address)) is not None:
            return refused
        if target.elsewhere:
            return _elsewhere(target.elsewhere)
        return mark(refuse(request, refusals.NOT_FOUND), "unknown_code")
    refusal = access.decide(target, visitor, timezone.now())
    if refusal is not None:
        return _refuse(request, target, visitor, refusal)
    if target.password is not None and not is_unlocked(request, target):
        return _ask_password(request, target, visitor)
    if request.method == "POST":  # reloading the form after it was sent
        return _to_itself(request, visitor)
    if target.max_clicks is None or visitor.kind != "click":
        capture.record_visit(visitor, target.link_id)
    elif not capture.record_claimed_click(visitor, target.link_id):
        return _refuse(request, target, visitor, refusals.LIMIT_REACHED)
    return _redirect(target)


def _refuse(
    request: HttpRequest, target: Target, visitor: Visitor, refusal: Refusal, **options: str
) -> HttpResponse:
    capture.record_refusal(visitor, target.link_id, refusal.reason)
    if target.expired_url and refusal in (refusals.EXPIRED, refusals.LIMIT_REACHED):
        return _elsewhere(target.expired_url)
    return refuse(request, refusal, **options)


@guarded("GET", "HEAD")
def root(request: HttpRequest) -> HttpResponse:
    """Of a host that is not the service's own."""
    host = canonical_host(request.META.get("HTTP_HOST", ""))
    url = root_url_of(host) if host else None
    if not url or is_host_banned(url):
        return refuse(request, refusals.NOT_FOUND)
    return _elsewhere(url)


def _elsewhere(url: str) -> HttpResponse:
    """To where a customer's domain sends those who cannot be sent to a link: no click, and nothing to be kept."""
    response = HttpResponse(status=302)
    del response["Content-Type"]
    response["Location"] = url
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex"
    return mark(response, "elsewhere")


def _redirect(target: Target) -> HttpResponse:
    response = HttpResponse(status=target.redirect_type)
    del response["Content-Type"]
    for name, value in redirect_headers(target).items():
        response[name] = value
    return response


# One more than a password may have, so that a longer one is not taken for its own beginning.
MAX_GIVEN = 129


@csrf_protect
def _ask_password(request: HttpRequest, target: Target, visitor: Visitor) -> HttpResponse:
    if request.method != "POST":
        return _refuse(request, target, visitor, refusals.PASSWORD, template="redirects/password.html")
    try:
        right = try_password(target, request.POST.get("password", "")[:MAX_GIVEN], visitor.address)
    except TooManyAttempts as error:
        capture.record_refusal(visitor, target.link_id, refusals.RATE_LIMITED.reason)
        return refuse_attempts(request, refusals.RATE_LIMITED, error)
    if not right:
        return _refuse(request, target, visitor, refusals.WRONG_PASSWORD, template="redirects/password.html")
    response = _to_itself(request, visitor)
    remember_unlocked(response, request, target)
    return response


def _to_itself(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Post, redirect, get: the visit that follows is judged, counted and answered like any other."""
    response = HttpResponse(status=303)
    response["Location"] = f"{request.path}?{SCAN_MARKER}" if visitor.scanned else request.path
    response["Cache-Control"] = "no-store"
    return response
