"""The public keys that issuers publish (OpenID Connect Discovery 1.0), kept in the memory of each process.

Callers have read the issuer from a row of a workspace. Strangers choose the tokens, so an unknown key id causes at
most one attempt a minute to read the keys again, and an issuer that fails is tried less and less often.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Lock
from typing import Any

import jwt

from common.jwks import Keys, find_key, read_keys
from common.outbound import OutboundError, send

# Keys are read again when they are older, and until that succeeds the former ones serve up to STALE_SECONDS.
FRESH_SECONDS, STALE_SECONDS = 600, 3600
RETRY_SECONDS, MAX_RETRY_SECONDS = 60, 3600
# Up to 64 KB each.
MAX_ISSUERS = 200
_FETCH_SECONDS = 5.0
# Fewer than the threads of a worker, so that slow issuers leave some to other requests.
_AT_ONCE = 2


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
        return read_keys(_get("list of keys", address, _FETCH_SECONDS - (time.monotonic() - started)))
    except ValueError:
        raise IssuerFailed("Its list of keys is malformed.") from None


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


@dataclass(slots=True)
class _Known:
    """What a process knows of an issuer. Times are monotonic."""

    keys: Keys = field(default_factory=list)
    read_at: float = float("-inf")
    retry_at: float = float("-inf")
    failures: int = 0
    lock: Lock = field(default_factory=Lock)


class IssuerKeys:
    """``fetch`` reads the keys of an issuer, and may raise IssuerFailed; ``clock`` returns seconds."""

    def __init__(
        self, fetch: Callable[[str], Keys] = fetch_keys, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._fetch, self._clock = fetch, clock
        self._known: dict[str, _Known] = {}
        self._lock = Lock()
        self._places = BoundedSemaphore(_AT_ONCE)

    def find(self, issuer: str, header: dict[str, Any]) -> jwt.PyJWK | None:
        """The key that signed a token with this header, or None if it is not known now. Waits for one attempt at most.

        Raises jwt.PyJWTError for a key that is not valid.
        """
        known = self._of(issuer)
        key = find_key(known.keys, header)
        if key is None or self._clock() - known.read_at > FRESH_SECONDS:
            self._read(issuer, known, waits=key is None)
            key = find_key(known.keys, header)
        return key if self._clock() - known.read_at <= STALE_SECONDS else None

    def store(self, issuer: str, keys: Keys) -> None:
        """Keep keys that were just read."""
        self._store(self._of(issuer), keys)

    def _store(self, known: _Known, keys: Keys) -> None:
        known.keys, known.read_at, known.failures = keys, self._clock(), 0
        known.retry_at = known.read_at + RETRY_SECONDS

    def _of(self, issuer: str) -> _Known:
        with self._lock:
            if issuer not in self._known and len(self._known) >= MAX_ISSUERS:
                # The oldest.
                del self._known[next(iter(self._known))]
            return self._known.setdefault(issuer, _Known())

    def _read(self, issuer: str, known: _Known, *, waits: bool) -> None:
        """Read the keys unless it is too early. ``waits``: also for the attempt of another thread."""
        if self._clock() < known.retry_at or not self._places.acquire(blocking=False):
            return
        try:
            if not known.lock.acquire(blocking=waits):
                return
            try:
                if self._clock() < known.retry_at:
                    return
                try:
                    self._store(known, self._fetch(issuer))
                except IssuerFailed:
                    wait = min(RETRY_SECONDS * 2**known.failures, MAX_RETRY_SECONDS)
                    known.failures, known.retry_at = known.failures + 1, self._clock() + wait
            finally:
                known.lock.release()
        finally:
            self._places.release()


ISSUER_KEYS = IssuerKeys()
