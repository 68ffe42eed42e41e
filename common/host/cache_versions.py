"""Cache invalidation across processes: version counters in a memory-mapped file that all processes of a host share.

Every code and every host name maps to a counter. A writer stores a new number in the counter before it responds. A
reader notes the number before it reads the database, and trusts its cached entry while the counter holds that number.
Codes share counters; a collision only costs an unnecessary database read.

Unknown codes have separate counters. Creating a link makes one unknown code known and changes no existing link, so
bulk creation does not invalidate cached links that share a counter.

Until a transaction commits, other processes read and cache the old state. So a change inside a transaction renews the
number twice: at once, for later reads in the same transaction, and again after the commit. The revision of the
link, without which the host does not follow it during an outage (`common.host.state`), is renewed after the commit
only: a transaction without effect leaves the link as it was.

Trades clarity for speed: the fast lane compares the mapped words itself, without an object or a lock, on each
redirect. bench/results.csv, "Redirects" and "Changes and outages", has the measurements.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple
from zlib import crc32

from django.conf import settings
from django.db import connection, transaction

from common.host import state

# The number of counters for codes and hosts. The same number of counters for unknown codes follows.
CHANGES = 65_536
COUNTERS = 2 * CHANGES
_BYTES = 8


@cache
def counters() -> memoryview[int]:
    """Map the file. Each read or write is one machine word.

    Opened before gunicorn forks: its workers share one mapping even if the file is replaced.
    """
    settings.VERSIONS_FILE.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(settings.VERSIONS_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(descriptor, COUNTERS * _BYTES)
        # A write to a mapped page without disk space kills the process.
        os.posix_fallocate(descriptor, 0, COUNTERS * _BYTES)
        return memoryview(mmap.mmap(descriptor, COUNTERS * _BYTES)).cast("Q")
    finally:
        os.close(descriptor)


def counter_of_code(code: str) -> int:
    """The counter of the code on all hosts. Few codes exist on more than one host."""
    return crc32(code.encode()) % CHANGES


def counter_of_unknown(code: str) -> int:
    return CHANGES + counter_of_code(code)


def counter_of_host(host: str) -> int:
    return crc32(host.encode(), 1) % CHANGES


class Version(NamedTuple):
    """The counters of a code and a host, and the numbers read from them."""

    code_counter: int
    host_counter: int
    code_number: int
    host_number: int

    @property
    def is_current(self) -> bool:
        """Whether neither counter has changed since."""
        numbers = counters()
        return (
            numbers[self.code_counter] == self.code_number and numbers[self.host_counter] == self.host_number
        )


class Versions(NamedTuple):
    """The version of a code in case it exists, and in case it does not."""

    known: Version
    unknown: Version


def versions_of(host: str, code: str) -> Versions:
    """Call it before reading the database, so that a change committed during the read invalidates the result."""
    numbers, host_counter, counter = counters(), counter_of_host(host), counter_of_code(code)
    host_number, unknown_counter = numbers[host_counter], CHANGES + counter
    return Versions(
        Version(counter, host_counter, numbers[counter], host_number),
        Version(unknown_counter, host_counter, numbers[unknown_counter], host_number),
    )


def bump(*, codes: Iterable[str] = (), hosts: Iterable[str] = (), new_codes: Iterable[str] = ()) -> None:
    """Invalidate cached entries of these codes and hosts. Call it after the change, inside or after its transaction.
    ``new_codes`` did not exist before.

    The numbers are random: writers need not read a counter first, and two concurrent writers cannot
    restore an earlier number.
    """
    changed_codes, changed_hosts = set(codes), set(hosts)
    to_renew = {
        *map(counter_of_code, changed_codes),
        *map(counter_of_unknown, changed_codes.union(new_codes)),
        *map(counter_of_host, changed_hosts),
    }

    def renew() -> None:
        changed = counters()
        numbers = memoryview(os.urandom(_BYTES * len(to_renew))).cast("Q")
        for counter, number in zip(to_renew, numbers, strict=True):
            changed[counter] = number

    def change() -> None:
        state.note_changes(codes=changed_codes, hosts=changed_hosts)
        renew()

    _run_now_and_on_commit(renew, change)


def bump_all() -> None:
    """Invalidate everything: any link or host may have changed. Call it like ``bump``."""
    _run_now_and_on_commit(_renew_all, _change_all)


def expire_caches() -> None:
    """Expire all cached entries, because notifications may have been missed. Entries kept for database outages remain
    usable for a while (`common.host.state`). Call it like ``bump``.
    """
    _run_now_and_on_commit(_renew_all, _renew_all)


def expire_caches_after_silence() -> None:
    """Expire all cached entries if no notification has arrived for ``state.HEARING_SECONDS``."""
    if state.has_fallen_silent():
        _renew_all()


def _change_all() -> None:
    state.note_change_of_everything()
    _renew_all()


def _renew_all() -> None:
    counters().cast("B")[:] = os.urandom(_BYTES) * COUNTERS


@dataclass(frozen=True)
class Renewal:
    """Renews numbers after a commit, also if the outcome of the commit is unknown."""

    renew: Callable[[], None]

    def __call__(self) -> None:
        self.renew()


def _run_now_and_on_commit(now: Callable[[], None], after_commit: Callable[[], None]) -> None:
    if connection.in_atomic_block:
        now()
        transaction.on_commit(Renewal(after_commit))
    else:
        after_commit()
