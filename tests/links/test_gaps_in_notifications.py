"""Redirects during a database outage on a host that has missed notifications."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from bans.models import Ban
from common.host import cache_versions, state
from common.postgresql import servers
from common.postgresql.timeouts import BoundedConnection
from links.destinations.invalidation_listener import Follower
from links.destinations.known_links import known_links
from links.destinations.lookup import Target, load_target, recall_target
from testing.polling import DEADLINE

pytestmark = pytest.mark.django_db(transaction=True)
MakeLink = Callable[..., dict[str, Any]]
HOST = "sho.rt"
HOUR = 3_600
WEEK = 7 * 24 * HOUR


class Clock:
    """Seconds since the machine booted."""

    now = 1_000.0

    def advance(self, seconds: float) -> None:
        """Pass the time while the follower has contact with the database."""
        self.now += seconds
        state.note_heard()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> Iterator[Clock]:
    settings.STALE_SECONDS = HOUR
    settings.VERSIONS_FILE = tmp_path / "run" / "versions"
    caches = (cache_versions.counters, state.mapped, known_links)
    for cache in caches:
        cache.cache_clear()
    clock = Clock()
    monkeypatch.setattr(time, "clock_gettime_ns", lambda _: int(clock.now * 1e9))
    state.note_heard()
    yield clock
    for cache in caches:
        cache.cache_clear()


def read(code: str) -> None:
    assert isinstance(load_target(HOST, code), Target)
    known_links().flush()


@contextmanager
def connected() -> Iterator[BoundedConnection]:
    with BoundedConnection.connect(**connection.get_connection_params(), autocommit=True) as listener:
        listener.response_seconds = DEADLINE
        yield listener


def reconnect() -> None:
    """Begin following as after a lost connection or a restart."""
    with connected() as listener:
        Follower()._begin(listener, servers.admit(listener))


def test_a_ban_missed_in_a_gap_ends_with_stale_seconds(clock: Clock, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    read(code)
    clock.now += 3
    Ban.objects.create(host="example.com")
    reconnect()
    clock.advance(HOUR - 4)
    assert isinstance(recall_target(HOST, code), Target)

    clock.advance(2)
    assert recall_target(HOST, code) is None

    clock.advance(WEEK)
    assert recall_target(HOST, code) is None


def test_a_link_that_was_read_again_after_the_gap_is_followed(clock: Clock, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    read(code)
    clock.now += 3
    reconnect()
    clock.advance(1)
    read(code)

    clock.advance(WEEK)

    assert isinstance(recall_target(HOST, code), Target)


def test_a_gap_counts_from_its_start_and_not_from_the_read(clock: Clock, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    read(code)
    clock.advance(WEEK)
    clock.now += 3
    reconnect()

    clock.advance(HOUR - 4)

    assert isinstance(recall_target(HOST, code), Target)


def test_a_flapping_connection_neither_ends_nor_prolongs_the_use(clock: Clock, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    read(code)
    # Six hundred real connections would take most of the test's time. A follower that begins cannot tell.
    with connected() as listener:
        for _ in range(118):
            clock.now += 30
            Follower()._begin(listener, servers.admit(listener))
        assert isinstance(recall_target(HOST, code), Target)

        for _ in range(4 * 120):
            clock.now += 30
            Follower()._begin(listener, servers.admit(listener))
            if clock.now > 1_000 + HOUR:
                assert recall_target(HOST, code) is None


def test_a_link_read_between_two_gaps_counts_from_the_second(clock: Clock, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    clock.now += 3
    reconnect()
    clock.advance(1)
    read(code)
    clock.advance(HOUR)
    clock.now += 3
    reconnect()

    clock.advance(HOUR - 4)
    assert isinstance(recall_target(HOST, code), Target)

    clock.advance(2)
    assert recall_target(HOST, code) is None


def test_without_stale_seconds_a_gap_ends_the_use(
    clock: Clock, make_link: MakeLink, settings: Settings
) -> None:
    settings.STALE_SECONDS = 0
    code = make_link()["shortCode"]
    read(code)
    assert isinstance(recall_target(HOST, code), Target)

    clock.now += 3
    reconnect()

    assert recall_target(HOST, code) is None


def test_the_file_of_an_earlier_release_is_extended(clock: Clock, settings: Settings) -> None:
    read_at = state.microseconds()
    before = state.revisions_of(HOST, "spring")
    path = settings.VERSIONS_FILE.with_name("changes")
    state.mapped.cache_clear()
    shorter = path.stat().st_size - 8 * (2 * state.GAPS + 1) - 64
    with path.open("r+b") as file:
        file.truncate(shorter)

    assert state.revisions_of(HOST, "spring") == before
    assert state.is_usable(read_at)
