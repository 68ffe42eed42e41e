"""Runs a raw request through either lane: the fast lane, or stock gunicorn with the Django view."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple
from unittest.mock import patch

import time_machine
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.workers.gthread import TConn, ThreadWorker

from analytics.journal.records import Record, decode
from common.host import guess_counts
from fastlane.compiled.loading import load
from fastlane.fast.health import Health
from fastlane.fast.lane import FastLane
from fastlane.fast.lookup import lookup
from shortener_project.wsgi import application
from testing.fastlane.compiled import run_compiled
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


def lane_for(data: bytes) -> FastLane:
    """Return a fast lane that has cached the request's link, if any."""
    lane = FastLane(settings.BASE_HOSTS, settings.TRUSTED_PROXIES)
    if key := lane.lookup_key(data, time.time()):
        prepared = lookup(*key)
        assert prepared is not None
        lane.store(*key, prepared)
    return lane


def fast(data: bytes, client: str = CLIENT, lane: FastLane | None = None) -> Outcome | None:
    """Run the request through the fast lane and, where it was built, the compiled loop, which must do the same.

    The request counts once. However long this process stops, the lane remembers an unknown code.
    """
    with (
        time_machine.travel(time.time(), tick=False),
        patch("common.host.guess_counts.monotonic", return_value=guess_counts.monotonic()),
    ):
        lane = lane or lane_for(data)
        before = _guesses_before()
        response = lane.answer(data, client, time.time())
        outcome = None
        if response is not None:
            _, sent, closes, payload = response
            records_of_lane = [_timeless(decode(payload), time.time())] if payload else []
            outcome = Outcome(without_date(sent), records_of_lane, not closes)
        if compiled := load().plain_links:
            _restore_guesses(before)
            received, payloads, is_open = run_compiled(compiled, data, client, lane)
            records_of_loop = [_timeless(decode(framed), time.time()) for framed in payloads]
            if outcome is None:
                assert records_of_loop == []
            else:
                assert Outcome(without_date(received), records_of_loop, is_open) == outcome
    return outcome


def _guesses_before() -> tuple[float, bytes]:
    if not settings.UNKNOWN_CODE_LIMIT:
        return 0.0, b""
    return guess_counts.guesses().refusing[0], bytes(guess_counts.guesses()._until)


def _restore_guesses(before: tuple[float, bytes]) -> None:
    refusing, until = before
    if until:
        guess_counts.guesses().refusing[0] = refusing
        guess_counts.guesses()._until[:] = memoryview(until).cast("d")


def health_check(data: bytes, client: str = CLIENT) -> Outcome | None:
    """Respond to a health check like the event loop."""
    response = Health().answer(data, client, time.time(), closes=False)
    return None if response is None else Outcome(without_date(response[1]), [], not response[2])


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
    return Outcome(without_date(response), [_timeless(record, since) for record in new], bool(kept_alive))


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


def _timeless(record: Record, since: float) -> Record:
    """Check that the record was made after ``since`` (seconds since 1970). Another clock tick may lie between."""
    assert since - 1 < record.time / 1e6 < time.time() + 1
    return record._replace(time=0)


def without_date(response: bytes) -> bytes:
    text, dates = re.subn(
        rb"\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n", b"\r\nDate: -\r\n", response
    )
    assert dates == 1
    return text
