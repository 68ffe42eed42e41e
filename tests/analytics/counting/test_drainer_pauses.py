"""When the drainer pauses: a batch has a fixed cost, so clicks that arrive in turn are counted together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from analytics.counting import pipeline
from analytics.management.commands import drain_clicks
from analytics.models import Click
from testing.analytics.clicks import close_journal
from testing.analytics.journaled import MakeLink, journaled, pk

BATCH, PAUSES = 4, 3


class Stopped(Exception):
    """Ends the command."""


class Observed:
    """Counts the batches, and what each pause finds. ``arrivals``: clicks that arrive during each of the batches.

    Time passes only in batches that count clicks, each of which takes these ``seconds``, and in pauses.
    """

    def __init__(self, link: int, arrivals: list[int], seconds: float) -> None:
        self.link, self.arrivals, self.seconds = link, arrivals, seconds
        self.now = 1000.0
        self.batches = 0
        self.finds: list[tuple[int, int]] = []
        self.pauses: list[float] = []

    def execute(self, execute: Any, sql: str, *arguments: Any) -> Any:
        if "UPDATE analytics_daytotal" in sql:
            self.batches += 1
            self.now += self.seconds
            journaled(self.link, count=self.arrivals.pop(0) if self.arrivals else 0)
        return execute(sql, *arguments)

    def pause(self, seconds: float) -> None:
        self.now += seconds
        self.finds.append((self.batches, Click.objects.count()))
        self.pauses.append(seconds)
        if len(self.pauses) == PAUSES:
            raise Stopped


@pytest.fixture
def drain(make_link: MakeLink, clicks_dir: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the command with so many clicks in each of some segments, until it has paused three times."""

    def drained(first: int, arrivals: list[int], seconds: float = 0, segments: int = 1) -> Observed:
        observed = Observed(pk(make_link()), arrivals, seconds)
        monkeypatch.setattr(pipeline, "BATCH", BATCH)
        clock = SimpleNamespace(sleep=observed.pause, monotonic=lambda: observed.now)
        monkeypatch.setattr(drain_clicks, "time", clock)
        for _ in range(segments - 1):
            journaled(observed.link, count=first)
            close_journal()
        journaled(observed.link, count=first)
        with connection.execute_wrapper(observed.execute), pytest.raises(Stopped):
            call_command("drain_clicks")
        return observed

    return drained


@pytest.mark.parametrize(
    ("first", "arrivals", "finds"),
    [
        pytest.param(
            1, [3, 2], [(1, 1), (2, 4), (3, 6)], id="after each batch, although clicks have arrived"
        ),
        pytest.param(BATCH - 1, [], [(1, 3), (1, 3), (1, 3)], id="after a batch with room for one more"),
        pytest.param(2 * BATCH, [1, 2], [(3, 11), (3, 11), (3, 11)], id="not while a backlog waits"),
        pytest.param(0, [], [(0, 0), (0, 0), (0, 0)], id="without clicks"),
    ],
)
def test_a_drainer_pauses_once_it_has_caught_up(
    drain: Any, first: int, arrivals: list[int], finds: list[tuple[int, int]]
) -> None:
    assert drain(first, arrivals).finds == finds


def test_a_drainer_does_not_pause_while_it_has_more_segments_than_it_may_open(
    drain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "MAX_OPEN_SEGMENTS", 2)
    finds = drain(1, [], segments=5).finds
    # The number of batches depends on the place of the last segment, which has a writer, in their random order.
    assert [clicks for _, clicks in finds] == [5] * PAUSES


@pytest.mark.parametrize(
    ("seconds", "pause"), [(0.0625, drain_clicks.PAUSE_SECONDS - 0.0625), (drain_clicks.PAUSE_SECONDS + 1, 0)]
)
def test_batches_begin_at_a_fixed_interval_however_long_they_take(
    drain: Any, seconds: float, pause: float
) -> None:
    # After two batches, the third finds no clicks and takes no time.
    assert drain(1, [1], seconds).pauses == [pause, pause, drain_clicks.PAUSE_SECONDS]
