"""The answers of the event loop to visits that it does not redirect to a link's destination.

The Django view sends the same bytes and writes the same records: `redirects.views`, `_answer`.
"""

from __future__ import annotations

from functools import lru_cache

import orjson
from django.http import HttpRequest

from analytics.journal.capture import KINDS
from analytics.journal.records import UNKNOWN_CODE, encode_fields
from analytics.models import Kind
from common.errors import TooManyAttempts
from common.host.guess_counts import guesses, too_many_guesses
from fastlane.fast.answers import Answer, Page, Request, encode_page, page_answer
from fastlane.fast.counts import COUNTRY, DEVICE, ELSEWHERE, GUESSING, NOT_FOUND
from links.destinations.lookup import UnknownCode
from pages.refusals import Refusal
from pages.responses import refuse, refuse_attempts
from redirects import refusals
from redirects.redirect_headers import elsewhere_headers, encode_headers

_OUTCOMES = {refusals.COUNTRY: COUNTRY, refusals.DEVICE: DEVICE}


def pack_unknown_code(result: UnknownCode) -> bytes:
    """Return what `answer_unknown_code` needs; empty if the Django view decides."""
    if not result.is_served or not (result.elsewhere or "").isascii():
        return b""
    return orjson.dumps([result.domain_id or 0, result.elsewhere])


def answer_unknown_code(packed: bytes, request: Request) -> Answer:
    """Count a guess of the visitor's network, and answer. ``packed``: by `pack_unknown_code`."""
    try:
        guesses().spend(request.address)
    except TooManyAttempts as refusal:
        return refuse_guessing(refusal, request)
    domain_id, elsewhere = orjson.loads(packed)
    record = _record(domain_id, UNKNOWN_CODE, request)
    if elsewhere:
        return ELSEWHERE, request.starts[302] + _headers_to(elsewhere), request.closes, record
    return page_answer(refusal_page(refusals.NOT_FOUND, request), NOT_FOUND, request, record)


def answer_refusal(link_id: int, refusal: Refusal, request: Request) -> Answer:
    """Answer a visit that a check of `redirects.checks.VISITOR_CHECKS` refuses."""
    kind = Kind.REFUSED if request.kind == "click" else KINDS[request.kind]
    record = _record(link_id, kind, request, refusal.reason)
    return page_answer(refusal_page(refusal, request), _OUTCOMES[refusal], request, record)


def refuse_guessing(refusal: TooManyAttempts, request: Request) -> Answer:
    """Answer a network that has requested too many unknown codes. Writes no record."""
    page = _guessing_page(refusal.retry_after, request.fields.accepts_json, request.hsts)
    return page_answer(page, GUESSING, request)


def _record(subject: int, kind: int, request: Request, reason: str = "") -> bytes:
    fields = request.fields
    return encode_fields(
        request.now,
        subject,
        kind,
        request.flags,
        request.address.encode(),
        fields.agent,
        fields.referrer,
        reason.encode("ascii"),
    )


def refusal_page(refusal: Refusal, request: Request) -> Page:
    return cached_refusal_page(refusal, request.fields.accepts_json, request.hsts)


@lru_cache(maxsize=64)
def cached_refusal_page(refusal: Refusal, in_json: bool, hsts: int) -> Page:
    return encode_page(refuse(_request(in_json), refusal), hsts)


@lru_cache(maxsize=1024)
def _guessing_page(wait: int, in_json: bool, hsts: int) -> Page:
    error = too_many_guesses(wait - 1)
    return encode_page(refuse_attempts(_request(in_json), refusals.GUESSING, error), hsts)


def _request(in_json: bool) -> HttpRequest:
    """Refusals depend on nothing else of the request."""
    request = HttpRequest()
    request.META["HTTP_ACCEPT"] = "application/json" if in_json else "text/html"
    return request


@lru_cache(maxsize=1024)
def _headers_to(url: str) -> bytes:
    return encode_headers(elsewhere_headers(url))
