"""The answers of the event loop: their form, their first lines, and pages as bytes.

``Answer`` trades clarity for speed: a plain tuple instead of a class. bench/results.md, "Redirects", has the
resulting rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import formatdate
from http.client import responses
from typing import NamedTuple

from django.http import HttpResponse
from gunicorn import SERVER

from analytics.visitors.visitor import Kind
from fastlane.fast.request_head import Fields
from links.models import RedirectType
from redirects import refusals

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
    """``headers``: those after the first lines, up to and including the empty line."""

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
