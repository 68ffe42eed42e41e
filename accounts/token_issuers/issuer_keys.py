"""The public keys that issuers publish (OpenID Connect Discovery 1.0), kept in the memory of each process.

Callers have read the issuer from a row of a workspace. Strangers choose the tokens, so an unknown key id causes at
most one attempt a minute to read the keys again, and an issuer that fails is tried less and less often. At each time,
one thread reads the keys of an issuer, and one those for a workspace.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock, Semaphore
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import jwt

from common.jwks import Keys, find_key, read_keys
from common.outbound import OutboundError, send

_T = TypeVar("_T")
# With a key that only the issuer has; never "none", or a secret that both sides know.
ALGORITHMS = ("RS256", "ES256")
# Keys are read again when they are older, and until that succeeds the former ones serve up to STALE_SECONDS.
FRESH_SECONDS, STALE_SECONDS = 600, 3600
RETRY_SECONDS, MAX_RETRY_SECONDS = 60, 3600
# Up to 64 KB each.
MAX_ISSUERS = 200
MAX_ATTEMPTS = 2_000
_FETCH_SECONDS, SLOW_SECONDS = 5.0, 2.0
# With those that wait for another, fewer than the threads of a worker: slow issuers leave some to other requests.
_AT_ONCE, _WAITING = 2, 1


class IssuerFailed(Exception):
    """The issuer cannot be reached, or does not answer as the specification says. The text is for the admin."""


def fetch_keys(issuer: str) -> Keys:
    """Read the keys from the issuer. Raises IssuerFailed."""
    started = time.monotonic()
    # Discovery, 4.1: without the terminating "/". The issuer itself keeps it.
    config = _get("configuration", issuer.rstrip("/") + "/.well-known/openid-configuration", _FETCH_SECONDS)
    if not isinstance(config, dict) or config.get("issuer") != issuer:
        # Discovery, 4.3
        raise IssuerFailed("Its configuration names another issuer.")
    address = config.get("jwks_uri")
    if not isinstance(address, str):
        raise IssuerFailed("Its configuration has no jwks_uri.")
    try:
        keys = read_keys(
            _get("list of keys", address, _FETCH_SECONDS - (time.monotonic() - started)), ALGORITHMS
        )
    except ValueError:
        raise IssuerFailed("Its list of keys is malformed.") from None
    if not keys:
        raise IssuerFailed(f"It lists no key for {' or '.join(ALGORITHMS)}.")
    return keys


def _get(what: str, url: str, seconds: float) -> Any:
    try:
        answer = send("GET", url, headers={"Accept": "application/json"}, seconds=seconds)
    except OutboundError as error:
        raise IssuerFailed(str(error)) from None
    if answer.status != 200:
        raise IssuerFailed(f"It answered with status {answer.status} for its {what}.")
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        raise IssuerFailed(f"Its {what} is no JSON, or too large.") from None


class _Read(NamedTuple):
    """Usable keys, and when they were read, in monotonic seconds."""

    keys: Keys
    at: float


@dataclass(slots=True)
class _Attempts:
    """``retry_at`` is in monotonic seconds. Whoever reads the keys holds the lock."""

    failures: int = 0
    retry_at: float = float("-inf")
    lock: Lock = field(default_factory=Lock)


class IssuerKeys:
    """``fetch`` reads the keys of an issuer, and may raise IssuerFailed; ``clock`` returns seconds."""

    def __init__(
        self, fetch: Callable[[str], Keys] = fetch_keys, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._fetch, self._clock = fetch, clock
        # The least recently used first. An issuer whose keys are forgotten is not forgotten to have failed.
        self._read: OrderedDict[str, _Read] = OrderedDict()
        self._attempts: OrderedDict[str, _Attempts] = OrderedDict()
        # The workspaces for which a thread reads.
        self._reading: set[UUID] = set()
        self._lock = Lock()
        self._waiting = Semaphore(_WAITING)

    def find(self, issuer: str, workspace: UUID, header: dict[str, Any]) -> jwt.PyJWK | None:
        """The key that signed a token with this header, or None if it is not known now. Waits for one attempt at most.

        Raises jwt.PyJWTError for a key that is not valid.
        """
        read = self._known(issuer)
        key = find_key(read.keys, header)
        if key is None or self._clock() - read.at > FRESH_SECONDS:
            self._refresh(issuer, workspace, waits=key is None)
            key = find_key(self._known(issuer).keys, header)
        return key

    def _known(self, issuer: str) -> _Read:
        with self._lock:
            read = self._read.get(issuer)
            if read is None or self._clock() - read.at > STALE_SECONDS:
                return _NOTHING
            self._read.move_to_end(issuer)
            return read

    def _refresh(self, issuer: str, workspace: UUID, *, waits: bool) -> None:
        """Read the keys unless it is too early. ``waits``: also for the attempt of another thread."""
        with self._lock:
            attempts = _latest(self._attempts, issuer, self._attempts.get(issuer, _Attempts()), MAX_ATTEMPTS)
        if self._is_early(issuer, attempts) or not self._acquire(attempts.lock, waits=waits):
            return
        try:
            # Another thread may have read them meanwhile.
            if not self._is_early(issuer, attempts) and self._begin(workspace):
                try:
                    self._try(issuer, attempts)
                finally:
                    with self._lock:
                        self._reading.remove(workspace)
        finally:
            attempts.lock.release()

    def _is_early(self, issuer: str, attempts: _Attempts) -> bool:
        return self._clock() < max(attempts.retry_at, self._known(issuer).at + RETRY_SECONDS)

    def _acquire(self, lock: Lock, *, waits: bool) -> bool:
        if lock.acquire(blocking=False):
            return True
        if not waits or not self._waiting.acquire(blocking=False):
            return False
        try:
            return lock.acquire()
        finally:
            self._waiting.release()

    def _begin(self, workspace: UUID) -> bool:
        """Whether the thread may read for this workspace."""
        with self._lock:
            is_free = len(self._reading) < _AT_ONCE and workspace not in self._reading
            if is_free:
                self._reading.add(workspace)
            return is_free

    def _try(self, issuer: str, attempts: _Attempts) -> None:
        started = self._clock()
        try:
            keys = self._fetch(issuer)
        except IssuerFailed:
            wait = min(RETRY_SECONDS * 2**attempts.failures, MAX_RETRY_SECONDS)
            attempts.failures, attempts.retry_at = attempts.failures + 1, self._clock() + wait
            return
        now = self._clock()
        # Tokens with unknown key ids do not make a slow issuer occupy a thread every minute.
        attempts.failures, attempts.retry_at = 0, now + FRESH_SECONDS if now - started > SLOW_SECONDS else now
        with self._lock:
            _latest(self._read, issuer, _Read(keys, now), MAX_ISSUERS)


def _latest(kept: OrderedDict[str, _T], name: str, value: _T, most: int) -> _T:
    """Keep the value as the latest one. The first ones beyond ``most`` are forgotten."""
    kept[name] = value
    kept.move_to_end(name)
    if len(kept) > most:
        kept.popitem(last=False)
    return value


_NOTHING = _Read([], float("-inf"))
ISSUER_KEYS = IssuerKeys()
