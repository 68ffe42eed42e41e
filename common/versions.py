"""How processes learn that what they keep in memory is out of date: version slots in one file of the host.

Every code and every host has a slot, a number that all processes of the machine see in shared memory. Who changes
what a code or host means writes a new number before it answers. Who keeps something in memory read the slot before it
read the database, and trusts what it keeps as long as the slot still holds that number. Codes share slots; that costs
a needless read of the database now and then, and nothing else.

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

SLOTS = 65_536
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
    return crc32(code.encode()) % SLOTS


def slot_of_host(host: str) -> int:
    return crc32(host.encode(), 1) % SLOTS


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


def version_of(host: str, code: str) -> Version:
    """To be taken before the database is read: a change that is committed while it is read has another number."""
    code_slot, host_slot = slot_of_code(code), slot_of_host(host)
    return Version(code_slot, host_slot, slots()[code_slot], slots()[host_slot])


def bump(*, codes: Iterable[str] = (), hosts: Iterable[str] = ()) -> None:
    """What these mean has changed: to be called after the change, in its transaction or behind it.

    Random numbers instead of counts, so that nobody has to read a slot before writing it and two writers at once
    cannot bring back a number that was there before.
    """
    theirs = {*map(slot_of_code, codes), *map(slot_of_host, hosts)}

    def renew() -> None:
        changed = slots()
        for slot in theirs:
            changed[slot] = int.from_bytes(os.urandom(_BYTES))

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
