"""The queue of claims in the event loop: who gets into a group, and who follows after it."""

from __future__ import annotations

import logging
import queue
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from django.conf import settings as django_settings
from django.db import connection
from gunicorn.config import Config
from pytest_django.fixtures import Settings

from fastlane.fast.lane import FastLane
from fastlane.handoff import click_claims
from fastlane.handoff.between_processes import Handoff
from fastlane.handoff.click_claims import ClickClaims
from fastlane.handoff.link_lookups import lookup
from fastlane.handoff.request_queue import RequestQueue
from fastlane.sockets.connections import Connection, OpenConnections
from fastlane.sockets.event_loop import EventLoop
from fastlane.sockets.outgoing import Incoming
from links.guess_counts import guesses
from links.models import ClickCounter, Link, LinkBan
from links.operators import ban_link
from testing.polling import DEADLINE
from testing.redirects.visits import CLIENT, django, request

MakeLink = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.django_db(transaction=True)


class Deferred:
    """The calls that threads defer to the main thread."""

    def __init__(self) -> None:
        self._calls: queue.Queue[Callable[[], None]] = queue.Queue()

    def defer(self, callback: Callable[..., None], *arguments: Any) -> None:
        self._calls.put(lambda: callback(*arguments))

    def run_one(self) -> None:
        self._calls.get(timeout=DEADLINE)()


class Running:
    """Claims with an event loop, and lists of the connections that Django must answer and that were released."""

    def __init__(self, opened: ExitStack) -> None:
        self.for_django: list[Handoff] = []
        self.released: list[Connection | Handoff] = []
        self.deferred = Deferred()
        connections = OpenConnections(on_closed=self.released.append, idle_timeout=75)
        self.lane = FastLane(django_settings.BASE_HOSTS, ())
        loop = EventLoop(connections, self.lane, config=Config(), on_deferred=lambda *_: None)
        opened.callback(loop.close)
        poller = opened.enter_context(selectors.DefaultSelector())
        pending = RequestQueue(
            poller,
            None,
            has_idle_thread=lambda: True,
            submit=self.for_django.append,
            on_released=self.released.append,
        )
        self.claims = ClickClaims(loop, pending, self.deferred, logging.getLogger(__name__))
        self._opened = opened

    def lookup(self, code: str) -> None:
        data = request(f"/{code}")
        if key := self.lane.lookup_key(data, time.time()):
            prepared = lookup(*key)
            assert prepared is not None
            self.lane.store(*key, prepared)

    def visit(self, code: str) -> tuple[Handoff, socket.socket]:
        self.lookup(code)
        served, client = socket.socketpair()
        self._opened.callback(served.close)
        self._opened.enter_context(client)
        client.settimeout(DEADLINE)
        handoff = Handoff(
            served, (CLIENT, 40000), ("127.0.0.1", 8000), Incoming(request(f"/{code}"), b"", time.monotonic())
        )
        self.claims.add(handoff)
        return handoff, client


def disconnect() -> None:
    """Close the connection of the thread that calls this."""
    connection.close()


@pytest.fixture
def running(
    transactional_db: None, nothing_known: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Running]:
    # However long this process stops, a claim stays in the queue, and a pause lasts until the end of the test.
    settings.API_QUEUE_SECONDS = DEADLINE
    monkeypatch.setattr(click_claims, "PAUSE_SECONDS", DEADLINE)
    with ExitStack() as opened:
        running = Running(opened)
        yield running
        running.claims._thread.submit(disconnect).result(DEADLINE)
        running.claims._thread.shutdown()


@pytest.fixture
def link(make_link: MakeLink) -> Link:
    return Link.objects.get(short_code=make_link(restrictions={"maxClicks": 1})["shortCode"])


def clicks_of(link: Link) -> int:
    return ClickCounter.objects.get(pk=link.pk).clicks


def has_followed(link: Link) -> bool:
    return guesses().followed.has_followed(CLIENT, link.short_code.encode())


def test_only_a_granted_visit_follows_the_link(link: Link, running: Running, settings: Settings) -> None:
    settings.UNKNOWN_CODE_LIMIT = 100
    running.lookup(link.short_code)
    ClickCounter.objects.filter(pk=link.pk).update(clicks=1)
    refused, _ = running.visit(link.short_code)
    running.deferred.run_one()
    running.deferred.run_one()

    assert (running.for_django, has_followed(link)) == ([refused], False)

    ClickCounter.objects.filter(pk=link.pk).update(clicks=0)
    running.claims._lane._used_up.clear()
    _, client = running.visit(link.short_code)
    running.deferred.run_one()
    running.deferred.run_one()

    assert client.recv(4096).startswith(b"HTTP/1.1 302 ")
    assert (clicks_of(link), has_followed(link)) == (1, True)


def test_no_click_is_claimed_for_a_client_that_has_gone(link: Link, running: Running) -> None:
    gone, client = running.visit(link.short_code)
    client.close()
    running.deferred.run_one()

    assert (running.released, gone.sock.fileno(), running.for_django) == ([gone], -1, [])
    assert clicks_of(link) == 0


CHANGES = {
    "banned for legal reasons": ({}, 451, "legal"),
    "switched off": ({"is_active": False}, 410, "disabled"),
    "expired": ({"expires_at": datetime(2020, 1, 1, tzinfo=UTC)}, 410, "expired"),
    "not started": ({"starts_at": datetime(2099, 1, 1, tzinfo=UTC)}, 404, "not_started"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_link_that_changes_before_the_claim_is_not_remembered_as_used_up(
    link: Link, running: Running, name: str
) -> None:
    fields, status, reason = CHANGES[name]
    handoff, _ = running.visit(link.short_code)
    if fields:
        Link.objects.filter(pk=link.pk).update(**fields)
    else:
        ban_link(link=link, reason="legal")
    running.deferred.run_one()
    running.deferred.run_one()

    assert (running.for_django, clicks_of(link)) == ([handoff], 0)
    answered = django(handoff.incoming.data, CLIENT)
    assert answered.response.startswith(b"HTTP/1.1 %d " % status)
    assert [record.reason for record in answered.records] == [reason]

    if fields:
        Link.objects.filter(pk=link.pk).update(is_active=True, expires_at=None, starts_at=None)
    else:
        LinkBan.objects.all().delete()
    _, client = running.visit(link.short_code)
    running.deferred.run_one()
    running.deferred.run_one()
    assert client.recv(4096).startswith(b"HTTP/1.1 302 ")


def test_visits_behind_a_rejected_group_go_to_django(link: Link, running: Running) -> None:
    parameters = {**connection.get_connection_params(), "cursor_factory": psycopg.Cursor}
    with psycopg.connect(**parameters) as holder:
        holder.execute("SELECT FROM links_clickcounter WHERE link_id = %s FOR UPDATE", [link.pk])
        rejected, _ = running.visit(link.short_code)
        running.deferred.run_one()
        queued, _ = running.visit(link.short_code)
        running.deferred.run_one()

    assert running.for_django == [rejected, queued]
    assert clicks_of(link) == 0
