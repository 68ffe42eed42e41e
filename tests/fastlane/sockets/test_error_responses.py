"""gunicorn's own responses to invalid requests and after errors name their reason."""

from __future__ import annotations

import os
import socket
import time
from typing import Any, NoReturn

import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger
from pytest_django.fixtures import Settings

from fastlane.handoff.between_processes import Handoff
from fastlane.handoff.request_threads import Exchange, Outcome, RequestThreads
from fastlane.sockets.outgoing import Incoming
from testing.polling import DEADLINE

HOST = b"Host: sho.rt\r\n"
INVALID = {
    "request line": (b"GET /x y HTTP/1.1\r\n" + HOST + b"\r\n", b"400"),
    "two hosts": (b"GET /x HTTP/1.1\r\n" + 2 * HOST + b"\r\n", b"400"),
    "no host": (b"GET /x HTTP/1.1\r\n\r\n", b"400"),
    "long line": (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", b"414"),
    "expectation": (b"GET /x HTTP/1.1\r\n" + HOST + b"Expect: wonders\r\n\r\n", b"417"),
    "many fields": (b"GET /x HTTP/1.1\r\n" + HOST + b"A: b\r\n" * 200 + b"\r\n", b"431"),
    "coding": (b"POST /x HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: secret\r\n\r\n", b"501"),
}


@pytest.fixture(autouse=True)
def long_queue(settings: Settings) -> None:
    """However long this process stops, no request has been queued for too long."""
    settings.API_QUEUE_SECONDS = DEADLINE


def respond(data: bytes) -> bytes:
    """Return the response to a request that never reaches the application, or makes it fail."""
    config = Config()
    config.set("http_parser", "python")
    worker = RequestThreads(1, os.getpid(), [], None, 30, config, Logger(config))
    worker.tmp.close()
    worker.wsgi = _fail
    served, client = socket.socketpair()
    with served, client:
        handoff = Handoff(
            served, ("192.0.2.1", 40000), ("127.0.0.1", 8000), Incoming(data, b"", time.monotonic())
        )
        assert worker.handle(Exchange(config, handoff, is_probe=False)) is Outcome.CLOSE
        served.shutdown(socket.SHUT_WR)
        client.settimeout(10)
        return b"".join(iter(lambda: client.recv(65_536), b""))


def _fail(environ: dict[str, Any], start_response: Any) -> NoReturn:
    raise ZeroDivisionError


@pytest.mark.parametrize(("data", "status"), INVALID.values(), ids=INVALID)
def test_an_invalid_request_gets_the_reason_bad_request(data: bytes, status: bytes) -> None:
    head, _, body = respond(data).partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")

    assert lines[0].startswith(b"HTTP/1.1 %s " % status)
    assert lines[1:] == [
        b"X-Refusal-Reason: bad_request",
        b"Connection: close",
        b"Content-Type: text/html",
        b"Content-Length: %d" % len(body),
    ]


def test_an_error_of_the_application_gets_the_reason_internal_error() -> None:
    response = respond(b"GET /x HTTP/1.1\r\n" + HOST + b"\r\n")

    assert response.startswith(
        b"HTTP/1.1 500 Internal Server Error\r\nX-Refusal-Reason: internal_error\r\nConnection: close\r\n"
    )
