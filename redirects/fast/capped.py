"""Answers to visits of links with ``maxClicks``, of which the database must claim each click before the response.

The fast lane keeps the prepared answer of such a link behind an entry that it does not serve itself. Links that also
have a password or a limit per visitor have none: the Django view decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from django.conf import settings

from analytics.journal.records import decode
from analytics.models import Kind
from common.host.guess_counts import guesses
from common.http.client_address import Network
from links.destinations.lookup import site_of
from redirects.fast.lane import Answer, FastLane
from redirects.unknown_code_limit import link_key

# Links without clicks left that are remembered, so that their visits need no claim.
_USED_UP = 10_000
# Answers behind the entries of the fast lane. Taking one over again costs little.
_ANSWERS, _ANSWERS_BYTES = 1_000, 4 * 1024 * 1024
_DIGEST_BYTES = 16


class Claimable(NamedTuple):
    """A visit whose click must be claimed before ``answer`` is sent. ``answer`` ends with the record of the visit."""

    answer: Answer
    # Of the prepared answer, which changes with the link.
    digest: bytes
    address: str
    key: bytes


class CappedLane:
    """Main thread only."""

    def __init__(self, lane: FastLane, own_hosts: frozenset[str], trusted_proxies: Sequence[Network]) -> None:
        self._lane = lane
        # A link's answer comes from the same code as that of a link without a limit.
        self._answers = FastLane(
            own_hosts, trusted_proxies, entries=_ANSWERS, size=_ANSWERS_BYTES, remembers_follows=False
        )
        self._used_up: set[bytes] = set()

    def find(self, data: bytes, peer: str, now: float) -> Claimable | None:
        """Return None if the Django view must decide, as about every visit that is not a click."""
        entry = self._lane.claimable(data)
        if entry is None:
            return None
        host, code, prepared = entry
        digest = blake2b(prepared, digest_size=_DIGEST_BYTES).digest()
        if digest in self._used_up:
            return None
        answer = self._answers.answer(data, peer, now)
        if answer is None:
            self._answers.store(*entry)
            answer = self._answers.answer(data, peer, now)
        if answer is None or not answer[3]:
            return None
        record = decode(answer[3])
        if record.kind != Kind.CLICK:
            return None
        return Claimable(answer, digest, record.address, link_key(site_of(host), code.encode("ascii")))

    def note_granted(self, claimable: Claimable) -> None:
        """The visitor follows the link."""
        if settings.UNKNOWN_CODE_LIMIT:
            guesses().followed.remember(claimable.address, claimable.key)

    def note_refused(self, claimable: Claimable) -> None:
        """No click was left. A change of the link brings another prepared answer."""
        if len(self._used_up) >= _USED_UP:
            self._used_up.clear()
        self._used_up.add(claimable.digest)
