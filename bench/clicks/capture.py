"""The time that recording a click adds to a redirect, in this process."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings

from analytics.journal import capture
from analytics.journal.writer import Journal
from analytics.visitors.visitor import Visitor
from bench.harness.results import record
from bench.load.plain_links import plain_links
from bench.load.traffic import Traffic

CLICKS = 100_000
# Values of CLICK_SYNC, and whether there is a CLICK_MIRROR, here on the same disk.
MODES = [("process", False), ("group", False), ("group", True), ("strict", False), ("strict", True)]
# With CLICK_SYNC=strict each click waits for the disk, so measure fewer.
FEWER_IN_STRICT = 20


def run(clicks: int, rounds: int) -> None:
    """Time for each CLICK_SYNC `capture.record_visit`, the only part of recording that a redirect waits for."""
    visitors = [
        Visitor(
            click.address, click.user_agent, click.referrer, "click", opted_out=False, language=click.language
        )
        for click in Traffic(plain_links(100)).records(10_000)
    ]
    print(
        f"{rounds} rounds of {clicks:,} clicks (strict: {clicks // FEWER_IN_STRICT:,}); microseconds a click"
    )
    figures = []
    for mode, is_mirrored in MODES:
        name = f"{mode} mirrored" if is_mirrored else mode
        count = clicks // FEWER_IN_STRICT if mode == "strict" else clicks
        means, slowest = [], []
        for _ in range(rounds):
            with TemporaryDirectory(dir=settings.VAR_DIR) as folder:
                Path(folder, "mirror").mkdir()
                journal = Journal(
                    Path(folder, "clicks"), mode, Path(folder, "mirror") if is_mirrored else None
                )
                capture.journal = lambda journal=journal: journal
                times = [_timed(visitors[number % len(visitors)]) for number in range(count)]
            means.append(statistics.mean(times) * 1e6)
            slowest.append(statistics.quantiles(times, n=100)[98] * 1e6)
        print(
            f"  {name:15} mean: min {min(means):6.2f}, median {statistics.median(means):6.2f}, max {max(means):6.2f};"
            f" p99: median {statistics.median(slowest):7.2f}"
        )
        figures.append(f"`{name}` {statistics.median(means):.1f} us")
    record("clicks-capture", f"`CLICK_SYNC`: {', '.join(figures)}")


def _timed(visitor: Visitor) -> float:
    started = time.perf_counter()
    capture.record_visit(visitor, 1)
    return time.perf_counter() - started
