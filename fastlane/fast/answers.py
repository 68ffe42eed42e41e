"""What the event loop answers: the form of an answer, and all that are no redirect to a link's destination.

The Django view sends the same bytes and writes the same records: `redirects.views`, `_answer`.

``Answer`` trades clarity for speed: a plain tuple instead of a class. bench/results.csv, "Redirects", has the
resulting rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import formatdate
from functools import lru_cache
from http.client import responses
from typing import NamedTuple

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from gunicorn import SERVER

from analytics.journal.capture import KINDS, is_credential
from analytics.journal.records import UNKNOWN_CODE, encode_fields
from analytics.models import Kind as RecordedKind
from analytics.visitors.visitor import FOLLOWING, Kind
from common.errors import TooManyAttempts
from common.http.client_address import is_trusted
from common.http.languages import page_language
from common.http.urls import is_address
from fastlane.fast.counts import COUNTRY, DEVICE, ELSEWHERE, GUESSING, NOT_FOUND
from fastlane.fast.request_head import Fields, NotSimple, read_head
from links.destinations.lookup import UnknownCode
from links.fields import RedirectType
from links.guess_counts import guesses, too_many_guesses
from pages.refusals import Refusal
from pages.responses import refuse, refuse_attempts
from redirects import refusals
from redirects.previews import preview_body, preview_response
from redirects.redirect_headers import elsewhere_headers, encode_headers

# The statuses of the lane's responses.
_STATUSES = (
    200,
    *RedirectType.values,
    *(
        refusal.status
        for refusal in (refusals.NOT_FOUND, refusals.COUNTRY, refusals.DEVICE, refusals.GUESSING)
    ),
)

# Outcome, bytes to send, whether the connection closes afterwards, and the visit's record (empty: none). The record
# must be in the journal before the response is sent. The outcome is the status of a redirect to a link's destination,
# or one of `fastlane.fast.counts.LABELS`. A NamedTuple would make answering a tenth slower.
Answer = tuple[int, bytes, bool, bytes]


class Request(NamedTuple):
    """A simple request, as the answers other than redirects to a link's own destination need it.

    ``address``: the visitor's. ``kind``: of the visit, "head" for every HEAD request. ``flags``: of its record.
    ``starts``: the first lines of a response, by status. ``hsts``: seconds for Strict-Transport-Security; 0: none.
    ``now``: in microseconds since 1970.
    """

    fields: Fields
    address: str
    kind: Kind
    flags: int
    starts: Mapping[int, bytes]
    closes: bool
    hsts: int
    now: int


class Page(NamedTuple):
    """A response as bytes. ``headers``: those after the first lines, up to and including the empty line."""

    status: int
    headers: bytes
    body: bytes


def first_lines(now: float, connection: str) -> dict[int, bytes]:
    """Return the lines with which the lane's responses begin, by status. ``now`` in seconds since 1970."""
    fields = f"Server: {SERVER}\r\nDate: {formatdate(int(now), usegmt=True)}\r\nConnection: {connection}\r\n"
    return {status: f"HTTP/1.1 {status} {responses[status]}\r\n{fields}".encode() for status in _STATUSES}


def encode_page(response: HttpResponse, hsts: int) -> Page:
    """Return the response as the middlewares and gunicorn would complete it."""
    headers = dict(response.items())
    if hsts:
        headers["Strict-Transport-Security"] = f"max-age={hsts}"
    headers["Content-Length"] = str(len(response.content))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return Page(response.status_code, lines.encode("ascii") + b"\r\n", response.content)


def page_answer(page: Page, outcome: int, request: Request, record: bytes = b"") -> Answer:
    sent = request.starts[page.status] + page.headers
    return outcome, sent if request.kind == "head" else sent + page.body, request.closes, record


_OUTCOMES = {refusals.COUNTRY.reason: COUNTRY, refusals.DEVICE.reason: DEVICE}


def pack_unknown_code(result: UnknownCode) -> bytes:
    """Return what `answer_unknown_code` needs; empty if the Django view decides."""
    if not result.is_served or not (result.elsewhere or "").isascii():
        return b""
    return orjson.dumps([result.domain_id or 0, result.elsewhere, result.pages])


def answer_unknown_code(packed: bytes, code: bytes, request: Request) -> Answer:
    """Count a guess of the visitor's network, and answer. ``packed``: by `pack_unknown_code`."""
    try:
        guesses().spend(request.address)
    except TooManyAttempts as error:
        return refuse_guessing(error, request)
    domain_id, elsewhere, pages = orjson.loads(packed)
    record = _record(domain_id, UNKNOWN_CODE, request, b"" if is_credential(code.decode("latin-1")) else code)
    if elsewhere:
        return ELSEWHERE, request.starts[302] + _headers_to(elsewhere), request.closes, record
    refusal = refusals.in_words_of(pages, refusals.NOT_FOUND)
    return page_answer(refusal_page(refusal, request), NOT_FOUND, request, record)


def answer_refusal(link_id: int, refusal: Refusal, request: Request) -> Answer:
    """Answer a visit that a check of `redirects.checks.VISITOR_CHECKS` refuses."""
    kind = RecordedKind.REFUSED if request.kind in FOLLOWING else KINDS[request.kind]
    record = _record(link_id, kind, request, refusal.reason.encode("ascii"))
    return page_answer(refusal_page(refusal, request), _OUTCOMES[refusal.reason], request, record)


def refuse_guessing(refusal: TooManyAttempts, request: Request) -> Answer:
    """Answer a network that has requested too many unknown codes. Writes no record."""
    fields = request.fields
    page = _guessing_page(
        refusal.retry_after, fields.accepts_json, page_language(fields.accept_language), request.hsts
    )
    return page_answer(page, GUESSING, request)


def _record(subject: int, kind: int, request: Request, reason: bytes) -> bytes:
    fields = request.fields
    return encode_fields(
        request.now,
        subject,
        kind,
        request.flags,
        request.address.encode(),
        fields.agent,
        fields.referrer,
        reason,
    )


def refusal_page(refusal: Refusal, request: Request) -> Page:
    fields = request.fields
    return cached_refusal_page(
        refusal, fields.accepts_json, page_language(fields.accept_language), request.hsts
    )


@lru_cache(maxsize=256)
def cached_refusal_page(refusal: Refusal, in_json: bool, language: str, hsts: int) -> Page:
    return encode_page(refuse(_request(in_json, language), refusal), hsts)


@lru_cache(maxsize=1024)
def _guessing_page(wait: int, in_json: bool, language: str, hsts: int) -> Page:
    error = too_many_guesses(wait - 1)
    return encode_page(refuse_attempts(_request(in_json, language), refusals.GUESSING, error), hsts)


def _request(in_json: bool, language: str) -> HttpRequest:
    """Return a request for the refusals of Django, which depend on nothing else of it."""
    request = HttpRequest()
    request.META["HTTP_ACCEPT"] = "application/json" if in_json else "text/html"
    request.META["HTTP_ACCEPT_LANGUAGE"] = language
    return request


@lru_cache(maxsize=1024)
def _headers_to(url: str) -> bytes:
    return encode_headers(elsewhere_headers(url))


_LOCATION = b"Location: "


def preview_page(code: bytes, headers: bytes, *, in_json: bool, language: str, hsts: int) -> Page:
    """Return the page of a preview, which is not a click, has no record, and is not in the metrics of redirects.

    ``headers``: those of a redirect, which begin with its location.
    """
    destination = headers[len(_LOCATION) : headers.index(b"\r\n")].decode("ascii")
    path = f"/{code.decode('ascii')}"
    body = preview_body(path, destination, in_json=in_json, language=language).encode()
    return Page(200, b"%s%d\r\n\r\n" % (preview_headers(in_json, hsts), len(body)), body)


@lru_cache(maxsize=64)
def preview_headers(in_json: bool, hsts: int) -> bytes:
    """The lines after the first ones, without the value of the last one, Content-Length."""
    return encode_page(preview_response("", in_json=in_json), hsts).headers.removesuffix(b"0\r\n\r\n")


_HEALTHY = b'{"status": "ok"}'
# The check that HAProxy sends unless told otherwise. HTTP/1.0 needs no Host.
_BARE = b"GET /healthz HTTP/1.0\r\n\r\n"
_AS_BARE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
# Without `/healthz/`, which the view does not serve either.
_HEALTH_TARGETS = (b"GET /healthz ", b"GET /healthz?", b"HEAD /healthz ", b"HEAD /healthz?")
_HEALTH_FIELDS = (
    "Content-Type: application/json\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
)


class Health:
    """Answers ``/healthz`` with the same response as the Django view, however busy the threads are."""

    def __init__(self) -> None:
        hsts = settings.SECURE_HSTS_SECONDS
        self._over_tls = f"Strict-Transport-Security: max-age={hsts}\r\n" if hsts else ""

    def answer(self, head: bytes, peer: str, now: float, closes: bool) -> Answer | None:
        """Return None for other requests and for requests that are not simple. ``now`` in seconds since 1970."""
        if not head.startswith(_HEALTH_TARGETS):
            return None
        version = "1.1"
        if head == _BARE:
            head, closes, version = _AS_BARE, True, "1.0"
        try:
            method, _, _, fields = read_head(head)
        except NotSimple:
            return None
        if fields.host not in settings.BASE_HOSTS and not is_address(fields.host):
            return None
        closes = closes or fields.closes
        is_secure = fields.is_secure and is_trusted(peer, settings.TRUSTED_PROXIES)
        answer = (
            f"HTTP/{version} 200 OK\r\nServer: {SERVER}\r\nDate: {formatdate(int(now), usegmt=True)}\r\n"
            f"Connection: {'close' if closes else 'keep-alive'}\r\n{_HEALTH_FIELDS}"
            f"{self._over_tls if is_secure else ''}Content-Length: {len(_HEALTHY)}\r\n\r\n"
        ).encode()
        return 200, answer + (_HEALTHY if method == "GET" else b""), closes, b""
