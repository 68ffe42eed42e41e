"""New redirect workers get the links that visitors have followed recently, before anyone requests them again.

The first of the redirect workers that start together forks the loader. It runs at a low priority, so neither the
readiness of a worker nor a redirect waits for it, and it reads the links once for all workers of the host. They are
those that visitors are most likely to follow next. As for every lookup, the version counters are read before the
database, and only while the host receives notifications: a link that changes while it is read or passed on is not
used. The prepared answers reach the workers in anonymous memory, never on a disk. A thread of each worker takes them
over.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from math import inf
from struct import Struct
from typing import Any, NamedTuple

from django.conf import settings
from django.db import Error, connection

from analytics.reports.activity import recently_followed
from common.database import extend_response_timeout
from common.host import state
from common.host.cache_versions import versions_of
from common.host.processes import lower_priority, rename
from common.host.state import is_hearing
from fastlane.fast.lane import FastLane
from fastlane.fast.prepared import prepare
from links.destinations.batch_lookup import Key, lookup_keys_of, read_targets
from links.destinations.known_links import known_links
from links.destinations.lookup import Target, site_of
from redirects.request_guard import link_key

# A key of the fast lane and its prepared answer.
Entry = tuple[bytes, bytes]
# The lengths of both.
_FRAME = Struct("<HI")
_END = _FRAME.pack(0, 0)
# Redirect workers that start within this time of the first one share its loader.
INTERVAL_SECONDS = 10.0

log = logging.getLogger(__name__)


class Part(NamedTuple):
    """Some of the shared entries. ``position``: where the next part begins. ``is_last``: nothing follows."""

    entries: list[Entry]
    position: int
    is_last: bool


class SharedEntries:
    """One process writes, and the processes that were forked after the creation read at their own pace."""

    def __init__(self) -> None:
        self._descriptor = os.memfd_create("links", os.MFD_CLOEXEC)
        self._written = 0

    def write(self, entries: Iterable[Entry]) -> None:
        self._append(b"".join([_FRAME.pack(len(key), len(answer)) + key + answer for key, answer in entries]))

    def finish(self) -> None:
        self._append(_END)

    def discard(self) -> None:
        """Free the memory. Readers that have not reached the end get no more."""
        os.pwrite(self._descriptor, _END, 0)
        os.ftruncate(self._descriptor, len(_END))

    @property
    def is_discarded(self) -> bool:
        """Whether the list is of no more use, as when the loader has finished without any entry."""
        return os.pread(self._descriptor, len(_END), 0) == _END

    def close(self) -> None:
        os.close(self._descriptor)

    def read(self, position: int, size: int) -> Part:
        """Return the complete entries of at most ``size`` bytes from ``position``. A longer entry ends the reading."""
        data = os.pread(self._descriptor, size, position)
        entries: list[Entry] = []
        start = 0
        while start + _FRAME.size <= len(data):
            key_length, length = _FRAME.unpack_from(data, start)
            key_end = start + _FRAME.size + key_length
            if not key_length or _FRAME.size + key_length + length > size:
                return Part(entries, position + start, is_last=True)
            if key_end + length > len(data):
                break
            entries.append((data[start + _FRAME.size : key_end], data[key_end : key_end + length]))
            start = key_end + length
        is_discarded = os.fstat(self._descriptor).st_size < position
        return Part(entries, position + start, is_discarded)

    def _append(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = os.pwrite(self._descriptor, rest, self._written)
            self._written += written
            rest = rest[written:]


class Loaders:
    """Decides which loader a new worker uses.

    ``current`` is what a worker reads that is forked now. ``is_due``: this worker must start the loader.
    """

    def __init__(self) -> None:
        self.current: SharedEntries | None = None
        self.is_due = False
        self._prepared_at = -inf

    def prepare(self) -> None:
        """Call it in gunicorn's main process before it forks a redirect worker.

        Without memory or descriptors, the worker starts without a loader.
        """
        now = time.monotonic()
        has_ended = self.current is None or self.current.is_discarded
        self.is_due = has_ended or now - self._prepared_at >= INTERVAL_SECONDS
        if not self.is_due:
            return
        self._prepared_at = now
        if self.current is not None:
            self.current.close()
            self.current = None
        try:
            self.current = SharedEntries()
        except OSError as error:
            self.is_due = False
            log.warning("Cannot load links before they are requested: %s", error)


@cache
def loaders() -> Loaders:
    """Call it first in gunicorn's main process."""
    return Loaders()


# Links per query, and prepared answers per write.
_QUERIED, _WRITTEN = 10_000, 500
# The queries of requests take milliseconds; each of these may take longer.
_STATEMENT_SECONDS = 30


def load(shared: SharedEntries) -> int:
    """Write the answers of recently followed links, of those with the most clicks first. Return their number.

    At most half of what a worker keeps in memory. Raises the database's errors.
    """
    number, size = 0, settings.DESTINATIONS_MB * 1024 * 1024 // 2
    with extend_response_timeout(_STATEMENT_SECONDS):
        with connection.cursor() as cursor:
            cursor.execute(f"SET statement_timeout = '{_STATEMENT_SECONDS}s'")
        keys = _keys(settings.DESTINATIONS_KEPT // 2)
        while (chunk := list(islice(keys, _QUERIED))) and is_hearing():
            entries = _entries(chunk)
            while size > 0 and (part := list(islice(entries, _WRITTEN))):
                shared.write(part)
                number += len(part)
                size -= sum(len(key) + len(answer) for key, answer in part)
    return number


def _keys(limit: int) -> Iterator[Key]:
    """Yield the recently followed links of all hosts, then others that this host has read."""
    followed = dict.fromkeys(lookup_keys_of(recently_followed(limit))[:limit])
    yield from followed
    for site, code in known_links().keys(limit - len(followed)):
        if (key := (site or settings.BASE_HOST, code)) not in followed:
            yield key


def _entries(keys: Sequence[Key]) -> Iterator[Entry]:
    before = [versions_of(site_of(host), code) for host, code in keys]
    for place, target in read_targets(keys):
        if isinstance(target, Target):
            host, code = keys[place]
            yield link_key(site_of(host), code.encode("ascii")), prepare(before[place], target)


# How long the loader waits for the database and for notifications, and how long a worker waits for the links.
_WAIT_SECONDS = 60.0
LOAD_SECONDS = 180.0
_POLL_SECONDS = 0.05
# After the last link. Then the workers have read them, and the memory is freed.
_LINGER_SECONDS = 5.0
_NICENESS = 10


def start_loader(listeners: Sequence[Any]) -> int | None:
    """Fork the loader if this worker must start it, and return its process id. Call it before any thread starts.

    ``listeners``: gunicorn's listening sockets, which the loader closes.
    """
    shared = loaders().current
    if shared is None or not loaders().is_due:
        return None
    parent = os.getpid()
    try:
        loader = os.fork()
    except OSError as error:
        log.warning("Cannot load links before they are requested: %s", error)
        shared.discard()
        return None
    if loader == 0:
        try:
            _run(shared, listeners, parent)
        except BaseException:
            log.exception("Loading links failed")
        finally:
            _exit(shared)
    return loader


def end_loader(loader: int) -> None:
    """Kill the loader that this worker has started, unless it has ended. Call it when the worker stops gracefully.

    By itself, the loader ends a moment later than its worker, or much later on a busy machine. So it could outlive a
    service that has stopped.
    """
    shared = loaders().current
    # The thread that reads the links may have waited for the loader, or be waiting for it. It closes the links then.
    with suppress(OSError):
        if os.waitpid(loader, os.WNOHANG)[0] == 0:
            # While the loader lives, the thread does not close them. Other workers must not wait for more links.
            if shared is not None:
                shared.discard()
            os.kill(loader, signal.SIGKILL)
            os.waitpid(loader, 0)


def _run(shared: SharedEntries, listeners: Sequence[Any], parent: int) -> None:
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    rename("warm start")
    for listener in listeners:
        listener.close()
    lower_priority(_NICENESS)
    threading.Thread(target=_exit_with, args=[parent, shared], daemon=True).start()
    if not _wait_for_notifications():
        log.info("No notifications of changes arrive. Links are loaded when they are requested.")
        return
    started_at, loaded = time.monotonic(), 0
    try:
        loaded = load(shared)
    except Error as error:
        log.warning("Cannot load recently followed links: %s", str(error).strip())
    shared.finish()
    connection.close()
    if loaded:
        log.info("Loaded %d links in %.1f s.", loaded, time.monotonic() - started_at)
        time.sleep(_LINGER_SECONDS)


def _wait_for_notifications() -> bool:
    """Wait until the host receives notifications. What was read before would be discarded when they begin."""
    started_at, deadline = state.microseconds(), time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < deadline:
        if state.is_prepared() and state.last_heard() > started_at:
            return True
        time.sleep(_POLL_SECONDS)
    return False


def _exit_with(parent: int, shared: SharedEntries) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    _exit(shared)


def _exit(shared: SharedEntries) -> None:
    """Workers must not wait for more links, however the loader ends."""
    try:
        shared.discard()
    finally:
        os._exit(0)


# A part takes a fraction of a millisecond, and the event loop has the interpreter to itself in between.
_PART_BYTES = 64 * 1024
_PAUSE_SECONDS = 0.005
# While the loader has nothing new.
_IDLE_SECONDS = 0.1


def start_reading(lane: FastLane, loader: int | None) -> None:
    """Return at once. Call it once in each redirect worker. ``loader``: the worker's child process, if any."""
    shared = loaders().current
    if shared is not None:
        threading.Thread(
            target=read_entries, args=[lane, shared, loader], name="warm start", daemon=True
        ).start()


def read_entries(lane: FastLane, shared: SharedEntries, loader: int | None) -> None:
    position, number, deadline = 0, 0, time.monotonic() + LOAD_SECONDS
    while time.monotonic() < deadline:
        entries, position, is_last = shared.read(position, _PART_BYTES)
        has_capacity = lane.preload(entries)
        number += len(entries)
        if is_last or not has_capacity:
            break
        if loader is not None and not entries and _has_ended(loader):
            # It was killed, and the other workers wait for it too.
            loader = None
            shared.discard()
            break
        time.sleep(_PAUSE_SECONDS if entries else _IDLE_SECONDS)
    log.info("Worker has %d links in memory from the start.", number)
    if loader is not None:
        with suppress(ChildProcessError):
            os.waitpid(loader, 0)
        shared.discard()
    shared.close()


def _has_ended(loader: int) -> bool:
    try:
        return os.waitpid(loader, os.WNOHANG)[0] == loader
    except ChildProcessError:
        return True
