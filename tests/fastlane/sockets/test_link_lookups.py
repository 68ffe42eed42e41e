"""Requests that wait for a lookup get its result if they arrived before it, however late it is processed."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest
import time_machine
from django.conf import settings
from gunicorn.config import Config

from fastlane.fast.lane import FastLane
from fastlane.handoff import link_lookups
from fastlane.handoff.between_processes import Handoff
from fastlane.handoff.link_lookups import LinkLookups
from fastlane.sockets.connections import Connection, OpenConnections
from fastlane.sockets.event_loop import EventLoop
from fastlane.sockets.outgoing import Incoming

CLIENT = ("192.0.2.1", 40000)
SERVER = ("127.0.0.1", 8000)
REQUEST = b"GET /spring HTTP/1.1\r\nHost: sho.rt\r\n\r\n"

pytestmark = pytest.mark.django_db


class InTurn:
    """A pool that runs each task at once, and a queue that runs each call when the test says so."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], Any]] = []

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(task(*arguments))
        return future

    def defer(self, call: Callable[..., Any], *arguments: Any) -> None:
        self.calls.append(lambda: call(*arguments))

    def run_next(self) -> None:
        self.calls.pop(0)()


class Site:
    def __init__(self) -> None:
        self.deferred: list[tuple[Connection, Incoming]] = []
        self.unresolved: list[Handoff] = []
        self.queue = InTurn()
        self.connections = OpenConnections(on_closed=lambda _: None, idle_timeout=75)
        self.loop = EventLoop(
            self.connections,
            FastLane(settings.BASE_HOSTS, ()),
            config=Config(),
            on_deferred=lambda connection, incoming: self.deferred.append((connection, incoming)),
        )
        log = logging.getLogger(__name__)
        pool: Any = self.queue
        self.lookups = LinkLookups(self.loop, pool, self.queue, log, on_unresolved=self.unresolved.append)
        self.clients: list[socket.socket] = []
        self.served: list[socket.socket] = []

    def request(self, code: str = "spring") -> None:
        """Send a request, and start or join a lookup."""
        served, client = socket.socketpair()
        client.settimeout(10)
        self.clients.append(client)
        self.served.append(served)
        self.loop.add(served, CLIENT, SERVER)
        client.sendall(REQUEST.replace(b"spring", code.encode()))
        self.loop.run_once()
        _, incoming = self.deferred.pop()
        assert self.lookups.start(Handoff(served, CLIENT, SERVER, incoming))


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.loop.close()
    for sock in [*site.clients, *site.served]:
        sock.close()


def test_a_request_before_the_lookup_gets_its_late_result(site: Site) -> None:
    with time_machine.travel(time.time(), tick=False) as clock:
        site.request()
        clock.shift(1)
        site.queue.run_next()
        clock.shift(2)
        site.queue.run_next()

    assert site.clients[0].recv(65_536).startswith(b"HTTP/1.1 404 Not Found\r\n")
    assert site.unresolved == []


def test_a_late_result_does_not_answer_a_request_that_arrived_after_the_lookup(site: Site) -> None:
    with time_machine.travel(time.time(), tick=False) as clock:
        site.request()
        site.queue.run_next()
        clock.shift(1)
        site.request()
        clock.shift(1)
        site.queue.run_next()

    assert len(site.unresolved) == 2


def test_a_request_gives_up_waiting_for_a_thread_and_a_later_one_still_gets_the_result(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.request()
    site.lookups.expire()
    assert site.unresolved == []
    monkeypatch.setattr(settings, "API_QUEUE_SECONDS", -1)
    site.lookups.expire()
    assert len(site.unresolved) == 1
    monkeypatch.undo()
    site.request()
    site.queue.run_next()
    site.queue.run_next()

    assert site.clients[1].recv(65_536).startswith(b"HTTP/1.1 404 Not Found\r\n")
    assert len(site.unresolved) == 1


@pytest.mark.parametrize("hears", [True, False])
def test_batches_that_wait_for_the_database_hold_up_no_batch_of_a_silent_time(
    site: Site, monkeypatch: pytest.MonkeyPatch, hears: bool
) -> None:
    submit = site.queue.submit
    monkeypatch.setattr(site.queue, "submit", lambda *_: Future())
    for code in ("autumn", "winter"):
        site.request(code)
        site.queue.run_next()
    monkeypatch.setattr(site.queue, "submit", submit)

    monkeypatch.setattr(link_lookups, "is_hearing", lambda: hears)
    site.request()

    # The batch, and its end.
    assert len(site.queue.calls) == (0 if hears else 1)
    while site.queue.calls:
        site.queue.run_next()
    if not hears:
        assert site.clients[-1].recv(65_536).startswith(b"HTTP/1.1 404 Not Found\r\n")
