"""A service that knows its links, as one that has run for a while does."""

from __future__ import annotations

import re
import time

from bench import wrk
from bench.redirects.ledger import Ledger
from bench.visits import Visits
from tests.service.hosts import stopped
from tests.service.running import Service

# Of those that it is asked for, a worker does not know one in so many.
KNOWN = 3_000
# Less than a worker may be silent for.
SLICE_SECONDS = 5
MOST_SECONDS = 180
_MISSED = re.compile(r'^shortener_destination_lookups_total\{result="miss"\} (\S+)$', re.MULTILINE)


def warm(ledger: Ledger, service: Service, visits: Visits) -> None:
    """Each worker by itself: all together, one of them may get all connections."""
    started, unknowing = time.monotonic(), service.accepting()
    while unknowing:
        if time.monotonic() - started > MOST_SECONDS:
            print(
                f"  NOT WARM after {MOST_SECONDS} s: of links at random, some are not known yet", flush=True
            )
            return
        for worker in list(unknowing):
            before = _missed(service)
            with stopped([each for each in service.accepting() if each != worker]):
                answered = ledger.add(wrk.load(service.port, visits, seconds=SLICE_SECONDS))
            if _missed(service) - before <= answered.requests / KNOWN:
                unknowing.remove(worker)


def _missed(service: Service) -> float:
    """How often a link was looked up in the database so far."""
    found = _MISSED.search(service.ask("GET", "/metrics").body.decode())
    return float(found[1]) if found else 0.0
