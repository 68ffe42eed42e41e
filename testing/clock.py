"""A clock for code that measures intervals."""

from __future__ import annotations


class Clock:
    """Call it instead of `time.monotonic`. Advances only when the test sets ``now`` (seconds)."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now
