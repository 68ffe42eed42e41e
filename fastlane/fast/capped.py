"""Answers to visits of links with ``maxClicks``, of which the database must claim each click before the response.

The fast lane keeps the prepared answer of such a link behind an entry that it does not serve itself. Links that also
have a password or a limit per visitor have none: the Django view decides.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

from django.conf import settings

from analytics.journal.records import decode, subject_and_kind
from analytics.models import Kind
from common.host.guess_counts import guesses
from fastlane.fast.lane import Answer, FastLane

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
    """Main thread only."""

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
        """The visitor follows the link."""
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
