"""When the clicks of a host count as not being counted."""

from __future__ import annotations

import os
import time

import pytest
import time_machine

from common.host import vitals

NOW = 1_900_000_000


@pytest.fixture
def drainer(monkeypatch: pytest.MonkeyPatch) -> vitals.Vitals:
    monkeypatch.setattr(vitals, "_of_all", {})
    return vitals.create(vitals.CLICK_DRAINER)


def _counted_before(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    now = time.monotonic_ns() + int(seconds * 1e9)
    monkeypatch.setattr(time, "monotonic_ns", lambda: now)


@pytest.mark.parametrize(
    ("waited", "idle", "problem"),
    [
        (61, 61, "the oldest has not been counted for 61 s"),
        # A backlog of which batches are counted, as after an outage.
        (3_600, 59, ""),
        # Nobody has followed a link for an hour.
        (59, 3_600, ""),
    ],
)
def test_clicks_are_not_counted_if_the_oldest_waits_and_no_batch_ends(
    drainer: vitals.Vitals, monkeypatch: pytest.MonkeyPatch, waited: float, idle: float, problem: str
) -> None:
    _counted_before(monkeypatch, idle)
    with time_machine.travel(NOW, tick=False):
        assert vitals.counting_problem(NOW - waited) == problem
        assert vitals.counting_problem(None) == ""


def test_a_finished_batch_of_a_fork_is_seen_here(
    drainer: vitals.Vitals, monkeypatch: pytest.MonkeyPatch
) -> None:
    _counted_before(monkeypatch, 61)
    beats = drainer.beats
    if (pid := os.fork()) == 0:
        vitals.adopt(drainer)
        vitals.beat()
        vitals.note_counted()
        os._exit(0)
    os.waitpid(pid, 0)

    assert vitals.counting_problem(0) == ""
    assert drainer.beats == beats + 1


def test_a_drainer_that_keeps_dying_is_a_problem_even_while_no_click_waits(drainer: vitals.Vitals) -> None:
    drainer.report(silent_seconds=0, failures=2)
    assert vitals.counting_problem(None) == ""
    drainer.report(silent_seconds=0, failures=3)
    assert vitals.counting_problem(None) == "the click drainer keeps dying"


def test_without_a_supervisor_the_age_of_the_oldest_click_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vitals, "_of_all", {})
    with time_machine.travel(NOW, tick=False):
        assert vitals.counting_problem(NOW - 60) == ""
        assert vitals.counting_problem(NOW - 62) == "the oldest has not been counted for 62 s"
