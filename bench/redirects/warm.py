"""Fills the link caches of all workers, as in a service that has run for a while."""

from __future__ import annotations

import re
import time

from bench.load import wrk
from bench.load.visits import Visits
from bench.redirects.ledger import Ledger
from testing.service.hosts import stopped
from testing.service.running import Service

# A worker is warm when it misses at most one of this many links.
LINKS_PER_MISS = 3_000
# Shorter than the timeout after which gunicorn restarts a silent worker.
SLICE_SECONDS = 5
MAX_SECONDS = 180
_MISSED = re.compile(r'^shortener_destination_lookups_total\{result="miss"\} (\S+)$', re.MULTILINE)


def warm(ledger: Ledger, service: Service, visits: Visits) -> None:
    """Warm the workers one by one: together, one of them might get all connections."""
    started, cold = time.monotonic(), service.accepting()
    while cold:
        if time.monotonic() - started > MAX_SECONDS:
            print(f"  NOT WARM after {MAX_SECONDS} s: some random links are not cached yet", flush=True)
            return
        for worker in list(cold):
            before = _missed(service)
            with stopped([other for other in service.accepting() if other != worker]):
                result = ledger.add(wrk.load(service.port, visits, seconds=SLICE_SECONDS))
            if _missed(service) - before <= result.requests / LINKS_PER_MISS:
                cold.remove(worker)


def _missed(service: Service) -> float:
    """The number of links looked up in the database so far."""
    match = _MISSED.search(service.call_internal("/metrics").body.decode())
    return float(match[1]) if match else 0.0
