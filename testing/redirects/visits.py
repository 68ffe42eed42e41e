"""Follows a link with the bytes of a request: through the Django view in stock gunicorn and, where this installation
has it, through the fast lane, which must do the same.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import NamedTuple

from django.conf import settings
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.workers.gthread import TConn, ThreadWorker

from analytics.journal.records import Record
from shortener_project.wsgi import application
from testing.visitors.agents import FIREFOX
from testing.visitors.forgeries import records, segment_lengths

CLIENT = "203.0.113.9"
USUAL = {
    "Host": "sho.rt",
    "User-Agent": FIREFOX,
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "en-US,en;q=0.5",
    "Accept-Encoding": "gzip, deflate, br",
    "Connection": "keep-alive",
}


class Outcome(NamedTuple):
    """``response`` without its date, ``records`` without their times."""

    response: bytes
    records: list[Record]
    kept_alive: bool


def request(
    path: str, changed: dict[str, str | None] | None = None, method: str = "GET", version: str = "1.1"
) -> bytes:
    """Return a browser's request. ``changed`` overrides header fields; None removes one."""
    fields = {name: value for name, value in {**USUAL, **(changed or {})}.items() if value is not None}
    lines = [f"{method} {path} HTTP/{version}", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def visit(data: bytes, client: str = CLIENT, *, in_lane: bool | None) -> Outcome:
    """Return what the Django view does. The fast lane must do the same if ``in_lane``, else nothing; None: either.

    Without the fast lane (FAST_LANE=no, or the package is absent), only the view is tested.
    """
    by_lane = lane_outcome(data, client)
    outcome = django(data, client)
    if settings.FAST_LANE:
        assert by_lane in ((None, outcome) if in_lane is None else (outcome if in_lane else None,))
    return outcome


def lane_outcome(data: bytes, client: str = CLIENT) -> Outcome | None:
    """Return what the fast lane does. None: it leaves the request to Django, or this installation has no fast lane."""
    if not settings.FAST_LANE:
        return None
    # By its name, because the package may be absent.
    outcome: Outcome | None = import_module("testing.fastlane.lanes").fast(data, client)
    return outcome


def django(data: bytes, client: str = CLIENT) -> Outcome:
    """Run the request in this thread, within the transaction of the test."""
    before, since = segment_lengths(settings.CLICKS_DIR), time.time()
    server_end, client_end = socket.socketpair()
    with server_end, client_end:
        client_end.settimeout(10)
        client_end.sendall(data)
        client_end.shutdown(socket.SHUT_WR)
        worker = _worker()
        with _database_connection_kept_open():
            kept_alive = worker.handle(TConn(worker.cfg, server_end, (client, 40000), ("127.0.0.1", 8000)))
        server_end.close()
        response = b"".join(iter(lambda: client_end.recv(65536), b""))
    new = records(settings.CLICKS_DIR, before)
    return Outcome(without_date(response), [timeless(record, since) for record in new], bool(kept_alive))


@contextmanager
def _database_connection_kept_open() -> Iterator[None]:
    """Keep Django from closing the test's database connection between two requests."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in signals:
            signal.connect(close_old_connections)


def _worker() -> ThreadWorker:
    config = _config(",".join(map(str, settings.TRUSTED_PROXIES)))
    worker = ThreadWorker(1, os.getpid(), [], None, 30, config, Logger(config))
    worker.tmp.close()
    worker.wsgi = application
    return worker


@cache
def _config(proxies: str) -> Config:
    """Creating one takes longer than many requests."""
    config = Config()
    config.set("worker_class", "gthread")
    config.set("keepalive", 75)
    config.set("http_parser", "python")
    config.set("forwarder_headers", "")
    config.set("forwarded_allow_ips", proxies)
    return config


def timeless(record: Record, since: float) -> Record:
    """Check that the record was made after ``since`` (seconds since 1970). Another clock tick may lie between."""
    assert since - 1 < record.time / 1e6 < time.time() + 1
    return record._replace(time=0)


def without_date(response: bytes) -> bytes:
    text, dates = re.subn(
        rb"\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n", b"\r\nDate: -\r\n", response
    )
    assert dates == 1
    return text
