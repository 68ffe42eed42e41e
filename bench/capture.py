"""What recording a click adds to a redirect, through the whole stack in this process."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings

from analytics import capture
from analytics.journal import Journal
from analytics.visitor import Visitor
from bench.plain_links import plain_links
from bench.traffic import Traffic

CLICKS = 100_000
MODES = ("process", "group", "strict")
# A sync of the disk for each click takes its time.
FEWER_IN_STRICT = 20


def run(clicks: int, rounds: int) -> None:
    """For each CLICK_SYNC, the time that `capture.record_visit` takes, which is all that a redirect waits for."""
    visitors = [
        Visitor(record.address, record.user_agent, record.referrer, "click", opted_out=False)
        for record in Traffic(plain_links(100)).records(10_000)
    ]
    print(
        f"{rounds} rounds of {clicks:,} clicks (strict: {clicks // FEWER_IN_STRICT:,}); microseconds a click"
    )
    for mode in MODES:
        count = clicks // FEWER_IN_STRICT if mode == "strict" else clicks
        means, slowest = [], []
        for _ in range(rounds):
            with TemporaryDirectory(dir=settings.VAR_DIR) as folder:
                journal = Journal(Path(folder), mode)
                capture.journal = lambda journal=journal: journal
                times = [_timed(visitors[number % len(visitors)]) for number in range(count)]
            means.append(statistics.mean(times) * 1e6)
            slowest.append(statistics.quantiles(times, n=100)[98] * 1e6)
        print(
            f"  {mode:8} mean: min {min(means):6.2f}, median {statistics.median(means):6.2f}, max {max(means):6.2f};"
            f" p99: median {statistics.median(slowest):7.2f}"
        )


def _timed(visitor: Visitor) -> float:
    started = time.perf_counter()
    capture.record_visit(visitor, 1)
    return time.perf_counter() - started
