"""Claims the clicks of links with ``maxClicks`` in the database, while the connections with their requests wait.

A group takes all claims that have arrived during the previous one, in one statement. Each is exact, and its record is
stored with it: a worker that is killed has neither claimed a click without a record nor the reverse.

The fast lane keeps the prepared answer of such a link behind an entry that it does not serve itself. Links that also
have a password or a limit per visitor have none: the Django view decides.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

from django.conf import settings

from analytics.journal.capture import record_claimed_clicks
from analytics.journal.records import decode, subject_and_kind
from analytics.models import Kind
from common.repeated_lines import REPEATED
from fastlane.fast.answers import Answer
from fastlane.fast.lane import FastLane
from fastlane.handoff.between_processes import Handoff
from fastlane.handoff.request_queue import RequestQueue
from fastlane.sockets.connections import has_disconnected
from fastlane.sockets.event_loop import EventLoop
from links.availability import Closed
from links.clicks import NotClaimed
from links.guess_counts import guesses

# Links without clicks left that are remembered, so that their visits need no claim.
_USED_UP = 10_000
_DIGEST_BYTES = 16


class Claimable(NamedTuple):
    """A visit whose click must be claimed before ``answer`` is sent. ``answer`` ends with the record of the visit.

    ``key``: of the link. ``prepared`` changes with the link.
    """

    answer: Answer
    key: bytes
    prepared: bytes


class CappedLane:
    """The answers to visits of limited links, which must not be sent before the click is claimed. Main thread only."""

    def __init__(self, lane: FastLane) -> None:
        self._lane = lane
        self._used_up: set[bytes] = set()

    def find(self, data: bytes, peer: str, now: float) -> Claimable | None:
        """Return None if the Django view must decide, as about every visit that is not a click."""
        entry = self._lane.claimable(data)
        if entry is None:
            return None
        key, prepared = entry
        if self._used_up and _digest(prepared) in self._used_up:
            return None
        answer = self._lane.answer(data, peer, now, claimable=prepared)
        if answer is None or not answer[3] or subject_and_kind(answer[3])[1] != Kind.CLICK:
            return None
        return Claimable(answer, key, prepared)

    def note_granted(self, claimable: Claimable) -> None:
        """Remember that this visitor followed the link."""
        if settings.UNKNOWN_CODE_LIMIT:
            address = decode(claimable.answer[3]).address
            guesses().followed.remember(address, claimable.key)

    def note_used_up(self, claimable: Claimable) -> None:
        """No click was left. A change of the link brings another prepared answer."""
        if len(self._used_up) >= _USED_UP:
            self._used_up.clear()
        self._used_up.add(_digest(claimable.prepared))


def _digest(prepared: bytes) -> bytes:
    return blake2b(prepared, digest_size=_DIGEST_BYTES).digest()


_GROUP = 500
# After a group that the database rejected, for example because it waited for a lock, claims are made one by one.
PAUSE_SECONDS = 1.0


class _Claim(NamedTuple):
    handoff: Handoff
    claimable: Claimable
    queued_at: float


class ClickClaims:
    """The visits that wait for their claim. Those that Django must answer go on to ``requests``. Main thread only."""

    def __init__(self, loop: EventLoop, requests: RequestQueue, method_queue: Any, log: Any) -> None:
        self._loop = loop
        self._lane = CappedLane(loop.lane)
        self._requests = requests
        self._method_queue = method_queue
        self._log = log
        # One group at a time: two would wait for each other's locks.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="claims")
        self._queued: deque[_Claim] = deque()
        self._is_busy = False
        self._paused_until = 0.0

    def add(self, handoff: Handoff) -> None:
        """Queue the claim of this visit; if it needs none, or must not be part of a group, Django answers."""
        now = time.monotonic()
        peer = handoff.client[0] if isinstance(handoff.client, tuple) else ""
        is_paused = now < self._paused_until
        claimable = None if is_paused else self._lane.find(handoff.incoming.data, peer, time.time())
        if claimable is None:
            self._requests.add(handoff)
            return
        self._queued.append(_Claim(handoff, claimable, now))
        if not self._is_busy:
            self._is_busy = True
            # After this iteration of the loop, so that requests that arrived together share a group.
            self._method_queue.defer(self._submit)

    def _submit(self) -> None:
        now = time.monotonic()
        oldest, is_paused = now - settings.API_QUEUE_SECONDS, now < self._paused_until
        group: list[_Claim] = []
        while self._queued and len(group) < _GROUP:
            claim = self._queued.popleft()
            if is_paused or claim.queued_at < oldest:
                self._requests.add(claim.handoff)
            elif has_disconnected(claim.handoff.sock, claim.handoff.incoming.since):
                self._requests.drop(claim.handoff)
            else:
                group.append(claim)
        self._is_busy = bool(group)
        if group:
            future = self._thread.submit(
                record_claimed_clicks, [claim.claimable.answer[3] for claim in group]
            )
            future.add_done_callback(partial(self._method_queue.defer, self._end, group))

    def _end(self, group: Sequence[_Claim], future: Future[list[Closed | None]]) -> None:
        try:
            results = future.result()
        except NotClaimed as error:
            self._log.warning(
                "A group of %d claims was rejected: %s", len(group), error.__cause__, extra=REPEATED
            )
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            for claim in group:
                self._requests.add(claim.handoff)
            self._submit()
        except Exception:
            # The clicks may be claimed, so another attempt could claim them twice.
            self._log.exception("The outcome of %d claims is unknown", len(group), extra=REPEATED)
            for claim in group:
                self._requests.refuse(claim.handoff)
            self._submit()
        else:
            self._submit()
            for claim, closed in zip(group, results, strict=True):
                self._answer(claim, closed)

    def _answer(self, claim: _Claim, closed: Closed | None) -> None:
        """A visit whose click is not claimed is answered by Django, which looks the link up again."""
        handoff = claim.handoff
        if closed is not None:
            if closed is Closed.LIMIT_REACHED:
                self._lane.note_used_up(claim.claimable)
            self._requests.add(handoff)
            return
        self._lane.note_granted(claim.claimable)
        connection = self._loop.add(handoff.sock, handoff.client, handoff.server)
        seconds = time.monotonic() - claim.queued_at
        self._loop.send(connection, claim.claimable.answer, handoff.incoming.rest, seconds)
