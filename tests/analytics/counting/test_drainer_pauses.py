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
from tests.analytics.counting.journaled import MakeLink, journaled, pk

BATCH, PAUSES = 4, 3


class Stopped(Exception):
    """Ends the command."""


class Observed:
    """Counts the batches, and what each pause finds. ``arrivals``: clicks that arrive during each of the batches."""

    def __init__(self, link: int, arrivals: list[int]) -> None:
        self.link, self.arrivals = link, arrivals
        self.batches = 0
        self.pauses: list[tuple[int, int]] = []

    def execute(self, execute: Any, sql: str, *arguments: Any) -> Any:
        if "INSERT INTO analytics_click" in sql:
            self.batches += 1
            journaled(self.link, count=self.arrivals.pop(0) if self.arrivals else 0)
        return execute(sql, *arguments)

    def pause(self, seconds: float) -> None:
        assert seconds == drain_clicks.PAUSE_SECONDS
        self.pauses.append((self.batches, Click.objects.count()))
        if len(self.pauses) == PAUSES:
            raise Stopped


@pytest.mark.parametrize(
    ("first", "arrivals", "pauses"),
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
    make_link: MakeLink,
    clicks_dir: Any,
    monkeypatch: pytest.MonkeyPatch,
    first: int,
    arrivals: list[int],
    pauses: list[tuple[int, int]],
) -> None:
    observed = Observed(pk(make_link()), arrivals)
    monkeypatch.setattr(pipeline, "BATCH", BATCH)
    monkeypatch.setattr(drain_clicks, "time", SimpleNamespace(sleep=observed.pause))
    journaled(observed.link, count=first)
    with connection.execute_wrapper(observed.execute), pytest.raises(Stopped):
        call_command("drain_clicks")

    assert observed.pauses == pauses
