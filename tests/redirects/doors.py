"""Both ways a request can go, with the bytes that a client sends and gets: the fast lane, and stock gunicorn with the
Django view behind it.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from django.conf import settings
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.workers.gthread import TConn, ThreadWorker

from analytics.records import Record, decode
from redirects.fast_lane import FastLane, look_up
from shortener_project.wsgi import application
from tests.conftest import FIREFOX
from tests.redirects.forgeries import records

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
    """``answer`` without its date, ``records`` without their times."""

    answer: bytes
    records: list[Record]
    kept_alive: bool


def request(
    path: str, changed: dict[str, str | None] | None = None, method: str = "GET", version: str = "1.1"
) -> bytes:
    """What a browser sends, with these header fields changed, or, where there is None, left out."""
    fields = {name: value for name, value in {**USUAL, **(changed or {})}.items() if value is not None}
    lines = [f"{method} {path} HTTP/{version}", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def lane_for(data: bytes) -> FastLane:
    """One that has looked up what this request is for, if it is for a link."""
    lane = FastLane(settings.BASE_HOSTS, settings.TRUSTED_PROXIES)
    if asked := lane.asks_for(data, time.time()):
        prepared = look_up(*asked)
        assert prepared is not None
        lane.learn(*asked, prepared)
    return lane


def fast(data: bytes, client: str = CLIENT, lane: FastLane | None = None) -> Outcome | None:
    answer = (lane or lane_for(data)).answer(data, client, time.time())
    if answer is None:
        return None
    _, sent, closes, payload = answer
    return Outcome(_undated(sent), [_timeless(decode(payload))], not closes)


def ordinary(data: bytes, client: str = CLIENT) -> Outcome:
    """In this thread, so within the transaction of the test."""
    before = _records()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(10)
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        worker = _worker()
        with _connections_kept():
            kept_alive = worker.handle(TConn(worker.cfg, ours, (client, 40000), ("127.0.0.1", 8000)))
        ours.close()
        answer = b"".join(iter(lambda: theirs.recv(65536), b""))
    return Outcome(_undated(answer), _records()[len(before) :], bool(kept_alive))


@contextmanager
def _connections_kept() -> Iterator[None]:
    """Django would look after the test's connection to the database between two requests, and close it."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in signals:
            signal.connect(close_old_connections)


def _worker() -> ThreadWorker:
    config = Config()
    config.set("worker_class", "gthread")
    config.set("keepalive", 75)
    config.set("http_parser", "python")
    config.set("forwarder_headers", "")
    config.set("forwarded_allow_ips", ",".join(map(str, settings.TRUSTED_PROXIES)))
    worker = ThreadWorker(1, os.getpid(), [], None, 30, config, Logger(config))
    worker.tmp.close()
    worker.wsgi = application
    return worker


def _records() -> list[Record]:
    return [_timeless(record) for record in records(settings.CLICKS_DIR)]


def _timeless(record: Record) -> Record:
    assert abs(record.time / 1e6 - time.time()) < 60
    return record._replace(time=0)


def _undated(answer: bytes) -> bytes:
    undated, dates = re.subn(
        rb"\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n", b"\r\nDate: -\r\n", answer
    )
    assert dates == 1
    return undated
