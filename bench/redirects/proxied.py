"""The service behind wrk as a trusted proxy, so that visitors have addresses of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bench.harness.running import restart
from bench.redirects.ledger import Ledger
from testing.service.drainer import drainer_held
from testing.service.running import Service


@contextmanager
def proxied(service: Service, api_key: str) -> Iterator[Ledger]:
    """Restart the service behind the proxy, and in the end without. Afterwards, check the clicks in the ledger."""
    restart(service, TRUSTED_PROXIES="127.0.0.1")
    ledger = Ledger(service, api_key)
    with drainer_held(service):
        yield ledger
    ledger.settle()
    restart(service, TRUSTED_PROXIES="")
