"""Threads of the load, and when what they asked for worked."""

from __future__ import annotations

import threading
import time
import traceback
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

from testing.failover.client import NO_ANSWER, outcome_of
from testing.service.connection import Response


class Attempt(NamedTuple):
    """``began`` and ``ended`` in seconds of the monotonic clock."""

    began: float
    ended: float
    outcome: str

    @property
    def worked(self) -> bool:
        return self.outcome == "ok"


class Window(NamedTuple):
    """``pause``: the longest time in seconds from one success to the next one."""

    attempts: int
    failures: Counter[str]
    pause: float


class Pulse:
    """The attempts of one kind, from any number of threads."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._attempts: list[Attempt] = []

    def note(self, began: float, outcome: str) -> None:
        self._attempts.append(Attempt(began, time.monotonic(), outcome))

    def watch(self, call: Callable[[], Response | None], *, accepted: int | None = None) -> Response | None:
        """The response of the call, or None without one. Notes how it ended; the status ``accepted`` is a success."""
        began = time.monotonic()
        try:
            response = call()
        except NO_ANSWER as error:
            self.note(began, type(error).__name__)
            return None
        if response is None:
            self.note(began, "no token")
        else:
            self.note(began, "ok" if response.status == accepted else outcome_of(response))
        return response

    def successes(self) -> list[float]:
        """When they ended."""
        return [attempt.ended for attempt in list(self._attempts) if attempt.worked]

    def window(self, since: float, until: float) -> Window:
        """The attempts that ended in this time, and those pauses that overlap it."""
        inside = [attempt for attempt in list(self._attempts) if since <= attempt.ended <= until]
        pause = longest_pause(self.successes(), since, until)
        failures = Counter(attempt.outcome for attempt in inside if not attempt.worked)
        return Window(len(inside), failures, pause)


def longest_pause(moments: Iterable[float], since: float, until: float) -> float:
    """The longest time between two successive ones of these moments that overlaps this time."""
    known = sorted(moment for moment in moments if moment <= until)
    first = max(0, bisect_left(known, since) - 1)
    return max((late - early for early, late in pairwise([*known[first:], until])), default=0.0)


class Problems:
    """What must not happen, each with the seconds since the start. Threads add to it."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.lines: list[str] = []

    def add(self, text: str) -> None:
        self.lines.append(f"{time.monotonic() - self.began:.1f} s: {text}")


class Worker(threading.Thread):
    """Repeats `step` with pauses until it is stopped. An exception of `step` is a problem of the run."""

    def __init__(self, name: str, pause: float, problems: Problems) -> None:
        super().__init__(name=name, daemon=True)
        self.problems, self._pause = problems, pause
        self._stopped = threading.Event()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def step(self) -> None:
        raise NotImplementedError

    def run(self) -> None:
        while not self._stopped.wait(self._pause):
            try:
                self.step()
            except Exception:
                self.problems.add(f"the load itself failed: {traceback.format_exc()}")
                self._stopped.wait(1)

    def stop(self) -> None:
        self._stopped.set()


class Repeated(Worker):
    """A worker with this function as its step."""

    def __init__(self, name: str, pause: float, problems: Problems, step: Callable[[], None]) -> None:
        super().__init__(name, pause, problems)
        self._step = step

    def step(self) -> None:
        self._step()
