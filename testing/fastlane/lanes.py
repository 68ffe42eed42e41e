"""Runs a raw request through the fast lane, in Python and compiled."""

from __future__ import annotations

import time
from unittest.mock import patch

import time_machine
from django.conf import settings

from analytics.journal.records import decode
from fastlane.compiled.event_loop import load
from fastlane.fast.answers import Health
from fastlane.fast.lane import FastLane
from fastlane.handoff.link_lookups import lookup
from links import guess_counts
from testing.fastlane.compiled import run_compiled
from testing.redirects.visits import CLIENT, Outcome, timeless, without_date


def lane_for(data: bytes) -> FastLane:
    """Return a fast lane that has cached the request's link, if any."""
    lane = FastLane(settings.BASE_HOSTS, settings.TRUSTED_PROXIES)
    if key := lane.lookup_key(data, time.time()):
        prepared = lookup(*key)
        assert prepared is not None
        lane.store(*key, prepared)
    return lane


def fast(data: bytes, client: str = CLIENT, lane: FastLane | None = None) -> Outcome | None:
    """Run the request through the fast lane and, where it was built, the compiled loop, which must do the same.

    The request counts once. However long this process stops, the lane remembers an unknown code.
    """
    with (
        time_machine.travel(time.time(), tick=False),
        patch("links.guess_counts.monotonic", return_value=guess_counts.monotonic()),
    ):
        lane = lane or lane_for(data)
        before = _guesses_before()
        response = lane.answer(data, client, time.time())
        outcome = None
        if response is not None:
            _, sent, closes, payload = response
            records_of_lane = [timeless(decode(payload), time.time())] if payload else []
            outcome = Outcome(without_date(sent), records_of_lane, not closes)
        if compiled := load().plain_links:
            _restore_guesses(before)
            received, payloads, is_open = run_compiled(compiled, data, client, lane)
            records_of_loop = [timeless(decode(framed), time.time()) for framed in payloads]
            if outcome is None:
                assert records_of_loop == []
            else:
                assert Outcome(without_date(received), records_of_loop, is_open) == outcome
    return outcome


def _guesses_before() -> tuple[float, bytes]:
    if not settings.UNKNOWN_CODE_LIMIT:
        return 0.0, b""
    return guess_counts.guesses().refusing[0], bytes(guess_counts.guesses()._until)


def _restore_guesses(before: tuple[float, bytes]) -> None:
    refusing, until = before
    if until:
        guess_counts.guesses().refusing[0] = refusing
        guess_counts.guesses()._until[:] = memoryview(until).cast("d")


def health_check(data: bytes, client: str = CLIENT) -> Outcome | None:
    """Respond to a health check like the event loop."""
    response = Health().answer(data, client, time.time(), closes=False)
    return None if response is None else Outcome(without_date(response[1]), [], not response[2])
