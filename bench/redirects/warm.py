"""A service that knows its links, as one that has run for a while does."""

from __future__ import annotations

import time

from bench import wrk
from bench.redirects.ledger import Ledger
from bench.visits import Visits

# Asked at random so many times as there are links, a worker has not been asked for one in 3,000 of them.
TIMES = 8
SLICE_SECONDS = 5
MOST_SECONDS = 180


def warm(ledger: Ledger, port: int, visits: Visits, *, links: int, workers: int) -> None:
    wanted, started = ledger.requests + TIMES * links * workers, time.monotonic()
    while ledger.requests < wanted:
        if time.monotonic() - started > MOST_SECONDS:
            print(
                f"  NOT WARM after {MOST_SECONDS} s: of links at random, some are not known yet", flush=True
            )
            return
        ledger.add(wrk.load(port, visits, seconds=SLICE_SECONDS))
