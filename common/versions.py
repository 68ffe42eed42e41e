"""How processes learn that what they keep in memory is out of date: version slots in one file of the host.

Every code and every host has a slot, a number that all processes of the machine see in shared memory. Who changes
what a code or host means writes a new number before it answers. Who keeps something in memory read the slot before it
read the database, and trusts what it keeps as long as the slot still holds that number. Codes share slots; that costs
a needless read of the database now and then, and nothing else.

That a code is unknown has a slot of its own. A new link makes one code known and changes no other, so that creating
links by the thousand does not make those be read again that happen to share a slot with them.

Until a transaction ends others read what was, and keep it: so what is changed within one has a new number now, for
whoever goes on in it, and another once it is committed.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple
from zlib import crc32

from django.conf import settings
from django.db import connection, transaction

# Of codes and hosts; as many of codes that are unknown follow.
CHANGES = 65_536
SLOTS = 2 * CHANGES
_BYTES = 8


@cache
def slots() -> memoryview[int]:
    """The slots, each read and written in one machine word. Opened before gunicorn forks, so that its workers share
    them whatever happens to the file.
    """
    settings.VERSIONS_FILE.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(settings.VERSIONS_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(descriptor, SLOTS * _BYTES)
        return memoryview(mmap.mmap(descriptor, SLOTS * _BYTES)).cast("Q")
    finally:
        os.close(descriptor)


def slot_of_code(code: str) -> int:
    """On every host at once: a code is rarely taken on two."""
    return crc32(code.encode()) % CHANGES


def slot_of_unknown(code: str) -> int:
    return CHANGES + slot_of_code(code)


def slot_of_host(host: str) -> int:
    return crc32(host.encode(), 1) % CHANGES


class Version(NamedTuple):
    """The slots of a code and a host, and the numbers that were in them."""

    code_slot: int
    host_slot: int
    code_number: int
    host_number: int

    @property
    def holds(self) -> bool:
        """Whether nothing has changed since."""
        numbers = slots()
        return numbers[self.code_slot] == self.code_number and numbers[self.host_slot] == self.host_number


class Versions(NamedTuple):
    """Of a code, if it turns out to be known, and if it does not."""

    known: Version
    unknown: Version


def versions_of(host: str, code: str) -> Versions:
    """To be taken before the database is read: a change that is committed while it is read has another number."""
    numbers, host_slot = slots(), slot_of_host(host)
    known, unknown = (
        Version(slot, host_slot, numbers[slot], numbers[host_slot])
        for slot in (slot_of_code(code), slot_of_unknown(code))
    )
    return Versions(known, unknown)


def bump(*, codes: Iterable[str] = (), hosts: Iterable[str] = (), new_codes: Iterable[str] = ()) -> None:
    """What these mean has changed: to be called after the change, in its transaction or behind it. ``new_codes`` meant
    nothing before.

    Random numbers instead of counts, so that nobody has to read a slot before writing it and two writers at once
    cannot bring back a number that was there before.
    """
    changed_codes = set(codes)
    theirs = {
        *map(slot_of_code, changed_codes),
        *map(slot_of_unknown, changed_codes.union(new_codes)),
        *map(slot_of_host, hosts),
    }

    def renew() -> None:
        changed = slots()
        numbers = memoryview(os.urandom(_BYTES * len(theirs))).cast("Q")
        for slot, number in zip(theirs, numbers, strict=True):
            changed[slot] = number

    _now_and_when_committed(renew)


def bump_all() -> None:
    """Anything may have changed. To be called as ``bump``."""
    _now_and_when_committed(_renew_all)


def _renew_all() -> None:
    slots().cast("B")[:] = os.urandom(_BYTES) * SLOTS


def _now_and_when_committed(renew: Callable[[], None]) -> None:
    renew()
    if connection.in_atomic_block:
        transaction.on_commit(renew)
