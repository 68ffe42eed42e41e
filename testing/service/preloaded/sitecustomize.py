"""Moves the clock of every Python process that has this folder in PYTHONPATH. See `testing.service.moved_clock`.

Intervals stay real: the monotonic clock and pauses are not affected.
"""

from __future__ import annotations

import os
from pathlib import Path

import time_machine

_FILE = Path(os.environ["MOVED_CLOCK"])
_real_time_ns = time_machine.escape_hatch.time.time_ns


def _moved_time_ns() -> int:
    return _real_time_ns() + int(_FILE.read_text()) * 1_000_000_000


# Afterwards, time-machine asks this object for the time, whichever function the process calls.
time_machine.travel(0.0).start().time_ns = _moved_time_ns
