"""New workers get recently followed links before anyone requests them, and never one that has changed since."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from analytics.counting.pipeline import Drainer
from analytics.reports import recent_links
from analytics.reports.recent_links import recently_followed
from common.host import cache_versions, state
from links.destinations.batch_lookup import Key
from links.destinations.known_links import known_links
from links.destinations.lookup import LookupResult, load_target
from links.models import Link
from redirects.fast.lane import FastLane
from redirects.fast.prepared import is_current
from redirects.warm_start import loader, loading, reader
from redirects.warm_start import shared as warm_start_shared
from redirects.warm_start.loading import load
from redirects.warm_start.shared import Entry, Loaders, SharedEntries
from testing.service import processes

MakeLink = Callable[..., dict[str, Any]]
EVERYTHING = 1 << 20
HEAD = b"GET /%b HTTP/1.1\r\nHost: sho.rt\r\n\r\n"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def closed_connection(transactional_db: None) -> Iterator[None]:
    """Later tests must not run with the statement timeout of the loader."""
    yield
    connection.close()


@pytest.fixture
def shared() -> Iterator[SharedEntries]:
    shared = SharedEntries()
    yield shared
    shared.close()


@pytest.fixture
def follow(visitor: Client, settings: Settings) -> Callable[..., None]:
    """Follow links by their codes, and count the clicks."""

    def follow(*codes: str) -> None:
        for code in codes:
            assert visitor.get(f"/{code}").status_code in (302, 410)
        Drainer(settings.CLICKS_DIR).drain_batch()

    return follow


def entries_of(shared: SharedEntries) -> list[Entry]:
    return shared.read(0, EVERYTHING).entries


def codes(shared: SharedEntries) -> list[str]:
    return [key.decode() for key, _ in entries_of(shared)]


def current(shared: SharedEntries) -> list[str]:
    return [key.decode() for key, prepared in entries_of(shared) if is_current(prepared, time.time())]


def test_links_with_the_most_recent_clicks_come_first(
    make_link: MakeLink, follow: Callable[..., None], shared: SharedEntries
) -> None:
    rare, busy, _unused = (make_link()["shortCode"] for _ in range(3))
    follow(rare, busy, busy)
    known_links().flush()

    assert load(shared) == 2
    assert codes(shared) == [busy, rare]
    assert current(shared) == [busy, rare]


def test_a_link_is_loaded_at_each_of_its_addresses(
    make_link: MakeLink, follow: Callable[..., None], shared: SharedEntries
) -> None:
    link = make_link(customCode="spring")
    follow("spring")

    load(shared)

    assert sorted(codes(shared)) == sorted([link["shortCode"], "spring"])


def test_a_worker_serves_loaded_links_without_a_lookup(
    make_link: MakeLink, follow: Callable[..., None], shared: SharedEntries
) -> None:
    code = make_link("https://example.com/warm")["shortCode"]
    follow(code)
    load(shared)
    lane = FastLane(frozenset({"sho.rt"}), ())
    assert lane.answer(HEAD % code.encode(), "192.0.2.1", time.time()) is None

    assert lane.preload(entries_of(shared))

    answer = lane.answer(HEAD % code.encode(), "192.0.2.1", time.time())
    assert answer is not None
    assert b"\r\nLocation: https://example.com/warm\r\n" in answer[1]


@pytest.mark.parametrize("change", [{"isActive": False}, {"targetUrl": "https://example.com/other"}, None])
def test_a_link_that_changes_after_the_load_is_not_used(
    change: dict[str, Any] | None,
    make_link: MakeLink,
    api: APIClient,
    follow: Callable[..., None],
    shared: SharedEntries,
) -> None:
    link, other = make_link(), make_link()["shortCode"]
    follow(link["shortCode"], other)
    assert load(shared) == 2
    assert sorted(current(shared)) == sorted([link["shortCode"], other])

    address = f"/api/urls/{link['_id']}"
    assert (api.delete(address) if change is None else api.put(address, change)).status_code == 200

    assert current(shared) == [other]


@pytest.mark.parametrize("change", [{"isActive": False}, {"targetUrl": "https://example.com/other"}, None])
def test_a_link_that_changes_during_the_load_is_not_used(
    change: dict[str, Any] | None,
    make_link: MakeLink,
    api: APIClient,
    follow: Callable[..., None],
    shared: SharedEntries,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The database is read before the change, and the answers are written after it."""
    link = make_link()
    follow(link["shortCode"])
    read = loading.read_targets

    def change_after_reading(keys: list[Key]) -> Iterator[tuple[int, LookupResult]]:
        results = list(read(keys))
        address = f"/api/urls/{link['_id']}"
        assert (api.delete(address) if change is None else api.put(address, change)).status_code == 200
        return iter(results)

    monkeypatch.setattr(loading, "read_targets", change_after_reading)

    assert load(shared) == 1
    assert current(shared) == []


def test_nothing_is_loaded_while_no_notifications_arrive(
    make_link: MakeLink, follow: Callable[..., None], shared: SharedEntries
) -> None:
    follow(make_link()["shortCode"])
    state.mapped().header[1] = state.microseconds() - int(1_000_000 * (state.HEARING_SECONDS + 1))

    assert load(shared) == 0


def test_links_that_the_host_has_read_follow_those_with_clicks(
    make_link: MakeLink, follow: Callable[..., None], shared: SharedEntries
) -> None:
    followed, earlier, later = (make_link()["shortCode"] for _ in range(3))
    follow(followed)
    for code in (earlier, later):
        load_target("sho.rt", code)
    known_links().flush()

    load(shared)

    assert codes(shared) == [followed, later, earlier]


def test_at_most_half_of_what_a_worker_keeps_is_loaded(
    make_link: MakeLink, follow: Callable[..., None], shared: SharedEntries, settings: Settings
) -> None:
    settings.DESTINATIONS_KEPT = 4
    follow(*(make_link()["shortCode"] for _ in range(3)))

    assert load(shared) == 2


def test_codes_of_deleted_links_are_skipped(
    make_link: MakeLink, follow: Callable[..., None], shared: SharedEntries
) -> None:
    code, deleted = make_link()["shortCode"], make_link()["shortCode"]
    follow(code, deleted)
    Link.objects.filter(short_code=deleted).delete()
    cache_versions.bump(codes=[deleted])

    assert load(shared) == 1
    assert codes(shared) == [code]


def test_only_the_last_pages_of_the_clicks_are_read(
    make_link: MakeLink, follow: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = (Link.objects.get(short_code=make_link()["shortCode"]) for _ in range(2))
    monkeypatch.setattr(recent_links, "_PAGES", 1)
    with connection.cursor() as cursor:
        # The deleted clicks of other tests may leave free space before the last page.
        cursor.execute("TRUNCATE analytics_click")
    follow(old.short_code)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO analytics_click (time, link_id, kind, reason, country, city, device, browser,"
            " operating_system, referrer) SELECT now(), %s, 0, '', 'DE', 'unknown', 'mobile', 'Firefox', 'Linux', ''"
            " FROM generate_series(1, 1000)",
            [new.pk],
        )

    assert recently_followed(10) == [new.pk]


def test_entries_arrive_in_parts_of_whole_entries(shared: SharedEntries) -> None:
    entries = [(f"code{number}".encode(), bytes(100)) for number in range(50)]
    shared.write(entries[:20])
    received, position, is_last = shared.read(0, 1_000)
    assert (len(received), is_last) == (9, False)
    shared.write(entries[20:])
    shared.finish()

    while not is_last:
        part, position, is_last = shared.read(position, 1_000)
        received += part

    assert received == entries


def test_a_reader_of_discarded_entries_stops(shared: SharedEntries) -> None:
    shared.write([(b"code", bytes(100))])
    _, position, is_last = shared.read(0, 1_000)
    assert not is_last
    shared.discard()

    assert shared.read(position, 1_000) == ([], position, True)


def test_discarded_entries_end_also_for_a_reader_that_has_not_begun(shared: SharedEntries) -> None:
    assert not shared.is_discarded
    shared.write([(b"code", bytes(100))])
    assert not shared.is_discarded

    shared.discard()

    assert (shared.is_discarded, shared.read(0, 1_000)) == (True, ([], 0, True))


@pytest.fixture
def loaders(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loaders]:
    """Those of this process, as in gunicorn's main process."""
    loaders = Loaders()
    monkeypatch.setattr(loader, "loaders", lambda: loaders)
    yield loaders
    if loaders.current is not None:
        loaders.current.close()


def test_workers_start_without_a_loader_if_the_host_has_no_descriptors(
    loaders: Loaders,
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        loaders.prepare()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert (loaders.current, loaders.is_due, loader.start_loader([])) == (None, False, None)
    loaders.prepare()
    assert loaders.is_due


def test_workers_start_without_a_loader_if_the_host_has_no_processes(
    loaders: Loaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fork() -> int:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    loaders.prepare()
    monkeypatch.setattr(os, "fork", fork)

    assert loader.start_loader([]) is None
    assert loaders.current is not None
    assert loaders.current.read(0, 1_000).is_last


def test_readers_stop_when_the_loader_is_killed(shared: SharedEntries) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    shared.write([(b"code", bytes(100))])
    child.kill()
    other = SharedEntries.__new__(SharedEntries)
    other._descriptor = os.dup(shared._descriptor)

    reader._read(FastLane(frozenset({"sho.rt"}), ()), other, child.pid)

    assert shared.is_discarded
    child.wait()


def test_a_stopping_worker_ends_its_loader_and_other_workers_do_not_wait_for_links(loaders: Loaders) -> None:
    loaders.prepare()
    shared = loaders.current
    assert shared is not None
    shared.write([(b"code", bytes(100))])
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    # Such a process would not end by itself.
    child.send_signal(signal.SIGSTOP)

    loader.end_loader(child.pid)

    assert not processes.is_alive(child.pid)
    assert shared.is_discarded
    child.wait()


def test_a_stopping_worker_kills_no_process_but_its_loader(loaders: Loaders) -> None:
    loaders.prepare()
    shared = loaders.current
    assert shared is not None
    shared.write([(b"code", bytes(100))])
    # The number of a loader that has ended may belong to another process.
    program = "import subprocess; other = subprocess.Popen(['sleep', '1000']); print(other.pid, flush=True); input()"
    parent = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    other = int(parent.stdout.readline())
    try:
        loader.end_loader(other)
        assert processes.is_alive(other)
        assert not shared.is_discarded
    finally:
        os.kill(other, signal.SIGKILL)
        parent.communicate(b"\n")


def test_a_worker_that_starts_after_a_loader_was_killed_starts_another(
    loaders: Loaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long this process stops, the workers start together.
    monkeypatch.setattr(warm_start_shared, "_INTERVAL_SECONDS", inf)
    loaders.prepare()
    assert (loaders.is_due, loaders.current is not None) == (True, True)
    loaders.prepare()
    assert not loaders.is_due
    assert loaders.current is not None
    loaders.current.discard()

    loaders.prepare()

    assert loaders.is_due
    assert not loaders.current.is_discarded
