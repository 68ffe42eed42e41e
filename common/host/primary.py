"""The database server that this host uses, and whether it commits.

After a failover, a former primary may live on and still respond. So all processes of the host use one server: the one
with the highest timeline that any of them has met. A promotion always begins a higher timeline. The words are in the
host's shared file (`common.host.state`).
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from django.conf import settings

from common.host import state
from common.host.state import COMMITTED, FAILED, FOLLOWED, FORMER, HOST, LAG, PLACE, PRIMARY, STANDBY

# The number of a server is a digest of its system identifier and its timeline.
_TIMELINE_BITS = 32
# The role may not query the identity of the server.
UNKNOWN = 0
# Longer than the time between two checks of a server.
_RECENT_SECONDS = 10.0
# For the lock. Its holder reads and writes one word.
_LOCK_SECONDS = 1.0
_LOCK_PAUSE_SECONDS = 0.01


class Verdict(Enum):
    """The kind of server that a new connection has reached."""

    CURRENT = "the server that this host uses, or the first one"
    OTHER = "a server that replaces the former one"
    FORMER = "a former primary, which must not be used"


class Followed(Enum):
    """The server that sent notifications before the current one."""

    SAME = "the same server, or none"
    OTHER_TIMELINE = "a server that this one has replaced"
    OTHER_SYSTEM = "a server with different data"


def number_of(system: int, timeline: int) -> int:
    """The number of a server. Within one system, a higher timeline has a higher number."""
    return (state.digest(str(system)) % (1 << 30) + 1) << _TIMELINE_BITS | timeline


def timeline_of(server: int) -> int:
    return server % (1 << _TIMELINE_BITS)


def _system_of(server: int) -> int:
    return server >> _TIMELINE_BITS


def current() -> int:
    """The number of the server to use; 0 before the first connection."""
    return state.mapped().servers[PRIMARY]


def is_former(server: int) -> bool:
    """Whether another server has replaced this one."""
    return server != UNKNOWN and current() not in (0, server)


def admit(server: int) -> Verdict:
    """Decide whether the host may use this server. If it replaces the former one, all processes leave that.

    The caller then expires the caches. Raises OSError.
    """
    servers = state.mapped().servers
    if server in (UNKNOWN, servers[PRIMARY]):
        return Verdict.CURRENT
    with _lock():
        known = servers[PRIMARY]
        if known > server and _system_of(known) == _system_of(server):
            return Verdict.FORMER
        servers[PRIMARY], servers[STANDBY] = server, 0
    return Verdict.CURRENT if known in (0, server) else Verdict.OTHER


def forget() -> None:
    """Use whatever server the next connection reaches, for example one that was restored to an earlier timeline."""
    servers = state.mapped().servers
    with _lock():
        servers[PRIMARY] = servers[FORMER] = 0


def note_followed(server: int) -> Followed:
    """Record the server that sends notifications."""
    servers = state.mapped().servers
    before, servers[FOLLOWED] = servers[FOLLOWED], server
    if UNKNOWN in (before, server) or before == server:
        return Followed.SAME
    return Followed.OTHER_TIMELINE if _system_of(before) == _system_of(server) else Followed.OTHER_SYSTEM


def place() -> int:
    """The place in DATABASE_URL, from 1, of the server to which a process of this host has connected last; 0: none."""
    return state.mapped().servers[PLACE]


def note_place(place: int) -> None:
    words = state.mapped().servers
    if words[PLACE] != place:
        words[PLACE] = place


def note_committed() -> None:
    state.mapped().servers[COMMITTED] = state.microseconds()


def note_failed() -> None:
    """Record that a server did not confirm a commit."""
    state.mapped().servers[FAILED] = state.microseconds()


def note_standby(server: int) -> None:
    """Record that a synchronous standby has confirmed a commit of this server. Raises OSError."""
    with _lock():
        if not is_former(server):
            state.mapped().servers[STANDBY] = state.microseconds()


def note_no_standby() -> None:
    """Record that no synchronous standby confirms commits."""
    state.mapped().servers[STANDBY] = 0


def note_lag(seconds: float) -> None:
    """Record by how much the standby that answers reports and lists lags behind."""
    state.mapped().servers[LAG] = int(seconds * 1e6)


def lag_seconds() -> float:
    """The last recorded lag; 0 before the first."""
    return state.mapped().servers[LAG] / 1e6


def note_former() -> None:
    """Record that a former primary still accepts connections."""
    state.mapped().servers[FORMER] = state.microseconds()


def is_committing() -> bool:
    """Whether the server has recently confirmed a commit. A former primary with lost standbys, a full disk or a
    read-only server does not.
    """
    return _seconds_since(COMMITTED) <= state.HEARING_SECONDS


def has_just_failed() -> bool:
    """Whether a check has failed recently, so that another one would fail, too."""
    return _seconds_since(FAILED) <= state.HEARING_SECONDS


def has_standby() -> bool:
    """Whether a synchronous standby has recently confirmed a commit. Always true unless REQUIRE_SYNCHRONOUS."""
    return not settings.REQUIRE_SYNCHRONOUS or _seconds_since(STANDBY) <= state.HEARING_SECONDS


def is_watched() -> bool:
    """Whether a process of this host checks the servers."""
    return is_committing() or has_just_failed()


def has_former() -> bool:
    """Whether a former primary still accepts connections."""
    return _seconds_since(FORMER) <= _RECENT_SECONDS


def has_gone_back() -> bool:
    """Whether only a former primary responds: what was committed on the later timeline is gone, or unreachable."""
    return has_former() and not is_committing()


def host_number() -> int:
    """A random number of this host, until the machine reboots."""
    servers = state.mapped().servers
    if not servers[HOST]:
        with _lock():
            servers[HOST] = servers[HOST] or secrets.randbits(62) + 1
    return servers[HOST]


def _seconds_since(word: int) -> float:
    at = state.mapped().servers[word]
    return (state.microseconds() - at) / 1e6 if at else float("inf")


@contextmanager
def _lock() -> Iterator[None]:
    """Held by one thread of the host. The kernel releases it with the process. Raises OSError.

    A process that is frozen inside must not freeze the others.
    """
    deadline = time.monotonic() + _LOCK_SECONDS
    descriptor = os.open(
        settings.VERSIONS_FILE.with_name("server.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
    )
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise TimeoutError("The state of this host is locked.") from None
                time.sleep(_LOCK_PAUSE_SECONDS)
        yield
    finally:
        # Unlock explicitly: a process that was forked meanwhile has a copy of the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
