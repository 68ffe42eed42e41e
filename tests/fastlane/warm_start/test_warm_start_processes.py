"""The process that loads links for new workers: its pipe, its limits and its end."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from math import inf

import pytest

from fastlane import warm_start
from fastlane.fast.lane import FastLane
from fastlane.warm_start import Loaders, SharedEntries
from testing.connections import closed_connection as closed_connection
from testing.service import processes
from tests.fastlane.warm_start.warm_links import shared as shared

pytestmark = pytest.mark.django_db(transaction=True)


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
    """Return the loaders of this process, as in gunicorn's main process."""
    loaders = Loaders()
    monkeypatch.setattr(warm_start, "loaders", lambda: loaders)
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

    assert (loaders.current, loaders.is_due, warm_start.start_loader([])) == (None, False, None)
    loaders.prepare()
    assert loaders.is_due


def test_workers_start_without_a_loader_if_the_host_has_no_processes(
    loaders: Loaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fork() -> int:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    loaders.prepare()
    monkeypatch.setattr(os, "fork", fork)

    assert warm_start.start_loader([]) is None
    assert loaders.current is not None
    assert loaders.current.read(0, 1_000).is_last


def test_readers_stop_when_the_loader_is_killed(shared: SharedEntries) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    shared.write([(b"code", bytes(100))])
    child.kill()
    other = SharedEntries.__new__(SharedEntries)
    other._descriptor = os.dup(shared._descriptor)

    warm_start.read_entries(FastLane(frozenset({"sho.rt"}), ()), other, child.pid)

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

    warm_start.end_loader(child.pid)

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
        warm_start.end_loader(other)
        assert processes.is_alive(other)
        assert not shared.is_discarded
    finally:
        os.kill(other, signal.SIGKILL)
        parent.communicate(b"\n")


def test_a_worker_that_starts_after_a_loader_was_killed_starts_another(
    loaders: Loaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long this process stops, the workers start together.
    monkeypatch.setattr(warm_start, "INTERVAL_SECONDS", inf)
    loaders.prepare()
    assert (loaders.is_due, loaders.current is not None) == (True, True)
    loaders.prepare()
    assert not loaders.is_due
    assert loaders.current is not None
    loaders.current.discard()

    loaders.prepare()

    assert loaders.is_due
    assert not loaders.current.is_discarded
