"""Signs of life of the processes that `manage.py serve` forks, in memory that all of them share.

A process beats in its work loop. The supervisor alone measures how long one has been silent, in time during which the
supervisor itself ran: a host that was suspended, or whose processes all stood still, gives nobody a reason to restart
anything, whichever clocks went on meanwhile.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable, Iterator
from math import inf
from typing import Any

CLICK_DRAINER = "click drainer"
# A process that sleeps beats at least as often.
_NAP_SECONDS = 1.0
# Clicks wait for a fraction of a second, and longer only while there is a backlog, of which batches are counted.
_WAITING_SECONDS = 60.0
# So many early exits in a row are no accident.
_FAILING = 3
# Positions in the memory of a process.
_BEATS, _SILENT, _FAILURES, _COUNTED = range(4)


class Vitals:
    """The signs of life of one process and those that replace it. Each value has one writer."""

    def __init__(self) -> None:
        self._words = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("Q")
        self.note_counted()

    @property
    def beats(self) -> int:
        return self._words[_BEATS]

    def beat(self) -> None:
        self._words[_BEATS] += 1

    @property
    def silent_seconds(self) -> float:
        """How long the process has been silent, as the supervisor has seen it."""
        return self._words[_SILENT] / 1000

    @property
    def failures(self) -> int:
        """How often in a row the process has died soon after its start; 0 once it has run for a while."""
        return self._words[_FAILURES]

    def report(self, *, silent_seconds: float, failures: int) -> None:
        self._words[_SILENT], self._words[_FAILURES] = int(1000 * silent_seconds), failures

    def note_counted(self) -> None:
        self._words[_COUNTED] = time.monotonic_ns()

    @property
    def uncounted_seconds(self) -> float:
        """How long ago the process last finished a batch."""
        return (time.monotonic_ns() - self._words[_COUNTED]) / 1e9


_of_all: dict[str, Vitals] = {}
# Of this process, if it has any.
_own: list[Vitals] = []


def create(name: str) -> Vitals:
    """Call it before the forks that are to share it."""
    vitals = _of_all[name] = Vitals()
    return vitals


def adopt(vitals: Vitals) -> None:
    """Let this process beat there from now on."""
    _own[:] = [vitals]


def of_all() -> Iterator[tuple[str, Vitals]]:
    """Yield the vitals of all processes with their names; none if this process does not run below `serve`."""
    yield from _of_all.items()


def beat() -> None:
    """Call it in the work loop, not in a thread beside it."""
    for own in _own:
        own.beat()


def beat_around(execute: Callable[..., Any], *arguments: Any) -> Any:
    """A wrapper for Django's `execute_wrappers`: work that consists of many statements shows that it goes on."""
    beat()
    try:
        return execute(*arguments)
    finally:
        beat()


def sleep(seconds: float) -> None:
    """Sleep as `time.sleep` does, and beat meanwhile."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        beat()
        time.sleep(min(left, _NAP_SECONDS))
    beat()


def note_counted() -> None:
    """The drainer has finished a batch, or found nothing to count."""
    for own in _own:
        own.note_counted()


def counting_problem(oldest: float | None) -> str:
    """Why this host's clicks are not being counted, or nothing. ``oldest``: the time of the oldest uncounted click."""
    drainer = _of_all.get(CLICK_DRAINER)
    if drainer is not None and drainer.failures >= _FAILING:
        return "the click drainer keeps dying"
    waited = 0.0 if oldest is None else time.time() - oldest
    # A drainer that runs elsewhere is known by its work only.
    idle = inf if drainer is None else drainer.uncounted_seconds
    if min(waited, idle) > _WAITING_SECONDS:
        return f"the oldest has not been counted for {waited:.0f} s"
    return ""
