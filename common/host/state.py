"""Shared state of one host about the database and its changes, in a file that all processes map.

A version counter (`common.host.cache_versions`) shows that a link *may* have changed, for example after a gap in the
notifications. This file shows which links *did* change. So the host can serve an unchanged link during a database
outage, however often its version was renewed. The file also records when the host last heard from the database, and
which database server it uses (`common.host.primary`).

The server does not repeat the notifications of a gap. So the host may have missed a change to any link that it had
read before the gap ended, and it may use such a link for only STALE_SECONDS after the last contact before the gap.
Gaps that begin within the same fraction of STALE_SECONDS count as one, so that a flapping connection needs no more
space.

The file survives restarts of processes, but not of the machine: after a system crash, the last changes may be
missing from the disk.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import secrets
import time
from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from django.conf import settings

# Without notifications for this long, cached links expire although their version counters have not changed.
HEARING_SECONDS = 5.0
# Lifetime of a cached link that was read while no notifications arrived.
UNHEARD_SECONDS = 2.0
# Large enough that a change rarely invalidates an unrelated link with the same index.
NUMBERS = 1 << 22
_NUMBER_BYTES = 4
_HEADER_BYTES = 64
# Places for gaps in the notifications.
GAPS = 64
_GAPS_BYTES = (2 * GAPS + 1) * 8
# Positions in the header. Former releases use 3 and 6.
_BOOT, HEARD, _SILENT_SINCE, _UNPREPARED, _EVERYTHING = 0, 1, 2, 4, 5
# Words about the database servers: the one to use, the one that sends notifications, the time of the last confirmed
# commit, of the last refused one, and of the last contact with a former primary, the number of this host, the time of
# the last commit that a synchronous standby has confirmed, by how much the standby of reports lagged behind, and the
# place of the one to use in DATABASE_URL, from 1.
PRIMARY, FOLLOWED, COMMITTED, FAILED, FORMER, HOST, STANDBY, LAG, PLACE = range(9)
_SERVERS_BYTES = 72
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class _Mapped(NamedTuple):
    header: memoryview[int]
    numbers: memoryview[int]
    gaps: memoryview[int]
    servers: memoryview[int]


class Revisions(NamedTuple):
    """The revisions of a code, of a host and of everything. Each change that this host learns of renews one."""

    code: int
    host: int
    everything: int


def revisions_of(host: str, code: str) -> Revisions:
    """Call it before reading the database."""
    header, numbers, _, _ = mapped()
    return Revisions(numbers[_index(code)], numbers[_index(host, 1)], header[_EVERYTHING])


def note_changes(*, codes: Iterable[str] = (), hosts: Iterable[str] = ()) -> None:
    numbers = mapped().numbers
    for index in {*map(_index, codes), *(_index(host, 1) for host in hosts)}:
        numbers[index] = secrets.randbits(32)


def note_change_of_everything() -> None:
    mapped().header[_EVERYTHING] = secrets.randbits(63)


def note_heard(asked_at: int | None = None) -> None:
    """Record a contact: every change that was committed before ``asked_at`` has reached the version counters.

    ``asked_at``: as of `microseconds`; None: now.
    """
    mapped().header[HEARD] = microseconds() if asked_at is None else asked_at


def last_heard() -> int:
    """The time of the last contact, as of `microseconds`; 0 if there was none since the machine booted."""
    return mapped().header[HEARD]


def unheard_seconds() -> float:
    """How long ago the host last heard from the database; infinite if it never did since the machine booted."""
    last = last_heard()
    return (microseconds() - last) / 1e6 if last else float("inf")


def is_hearing() -> bool:
    """Whether the server that this host uses, and no former primary, sends notifications."""
    servers = mapped().servers
    return unheard_seconds() <= HEARING_SECONDS and servers[FOLLOWED] in (0, servers[PRIMARY])


def has_fallen_silent() -> bool:
    """True once per outage, in one process or a few, when the host stops hearing from the database."""
    if is_hearing():
        return False
    header = mapped().header
    # "Never heard" is an outage too, and needs a non-zero number.
    since = header[HEARD] or 1
    if header[_SILENT_SINCE] == since:
        return False
    header[_SILENT_SINCE] = since
    return True


def set_prepared(prepared: bool) -> None:
    """Web workers do not use the database until it is prepared, because its schema may be outdated."""
    mapped().header[_UNPREPARED] = not prepared


def is_prepared() -> bool:
    return not mapped().header[_UNPREPARED]


@cache
def mapped() -> _Mapped:
    """Opened before gunicorn forks, so that its workers share one mapping even if the file is replaced."""
    path = settings.VERSIONS_FILE.with_name("changes")
    path.parent.mkdir(parents=True, exist_ok=True)
    gaps_at = _HEADER_BYTES + NUMBERS * _NUMBER_BYTES
    servers_at = gaps_at + _GAPS_BYTES
    size = servers_at + _SERVERS_BYTES
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        boot = digest(_boot_id())
        if os.pread(descriptor, 8, 0) != boot.to_bytes(8, "little"):
            os.ftruncate(descriptor, 0)
            _write_header(descriptor, boot)
        os.ftruncate(descriptor, size)
        # A write to a mapped page without disk space kills the process.
        os.posix_fallocate(descriptor, 0, size)
        whole = memoryview(mmap.mmap(descriptor, size))
        return _Mapped(
            whole[:_HEADER_BYTES].cast("Q"),
            whole[_HEADER_BYTES:gaps_at].cast("I"),
            whole[gaps_at:servers_at].cast("Q"),
            whole[servers_at:].cast("Q"),
        )
    finally:
        # Unlock explicitly: the mapping has a copy of the descriptor, which would keep the lock.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _write_header(descriptor: int, boot: int) -> None:
    """Initialise a new file. A random number invalidates everything cached with an earlier file."""
    header = memoryview(bytearray(_HEADER_BYTES)).cast("Q")
    header[_BOOT], header[_EVERYTHING] = boot, secrets.randbits(63)
    os.pwrite(descriptor, header.cast("B"), 0)


def _boot_id() -> str:
    try:
        return BOOT_ID.read_text()
    except OSError:
        return secrets.token_hex()


def _index(name: str, seed: int = 0) -> int:
    return crc32(name.encode(), seed) % NUMBERS


def digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=7).digest(), "big") + 1


def microseconds() -> int:
    """The time since the machine booted, the same for all processes of the host."""
    return time.clock_gettime_ns(_CLOCK) // 1000


# The words of the shared file: for each gap its start and its end, then the end of the last gap that was dropped.
_DROPPED = 2 * GAPS


def note_gap(end: int) -> None:
    """Record a gap from the last contact until ``end``, in microseconds. Call it before ``state.note_heard``.

    A process killed in between changes nothing: the next call records a longer gap.
    """
    words, start = mapped().gaps, last_heard()
    # There is one place more than fractions of STALE_SECONDS. So a gap that is overwritten began STALE_SECONDS ago or
    # more.
    fraction = max(1, settings.STALE_SECONDS * 1_000_000 // (GAPS - 1))
    place = 2 * (start // fraction % GAPS)
    if words[place] // fraction != start // fraction:
        words[_DROPPED] = max(words[_DROPPED], words[place + 1])
        words[place] = start
    words[place + 1] = max(words[place + 1], end)


def is_usable(read_at: int) -> bool:
    """Whether the host may still use what it began to read at ``read_at`` (`state.microseconds`)."""
    words = mapped().gaps
    if read_at < words[_DROPPED]:
        return False
    starts = [words[place] for place in range(0, 2 * GAPS, 2) if read_at < words[place + 1]]
    if not starts:
        return True
    missing_since = max(read_at, min(starts))
    stale_seconds: int = settings.STALE_SECONDS
    return microseconds() - missing_since <= stale_seconds * 1_000_000
