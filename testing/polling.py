"""Waiting for a condition, with a deadline."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

# Seconds after which a wait fails. Generous: the machine may be busy, and the service itself may take 30 seconds, such
# as for a slow body. TEST_DEADLINE is for whoever watches a test fail.
DEADLINE = int(os.environ.get("TEST_DEADLINE", "240"))
T = TypeVar("T")


def eventually(condition: Callable[[], T], *, every: float = 0.05) -> T:
    """Poll the condition every ``every`` seconds until it is true, and return its value."""
    deadline = time.monotonic() + DEADLINE
    while not (result := condition()):
        assert time.monotonic() < deadline, "The condition did not come true in time."
        time.sleep(every)
    return result


def happens(condition: Callable[[], object], *, within: float, every: float = 0.05) -> bool:
    """Poll the condition like `eventually`; False if it has not come true in ``within`` seconds."""
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(every)
    return True
