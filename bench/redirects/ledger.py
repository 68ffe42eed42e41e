"""Compares the redirects that clients received with the clicks that the service counted, and checks destinations."""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import closing

from bench.harness.running import drained, site_of
from bench.load.wrk import LoadResult
from testing.proof.site import Site
from testing.service.running import Connection, Service

SAMPLE = 1_000


class Ledger:
    """Lower and upper bounds for the number of clicks.

    wrk counts a response when it arrives. When wrk stops, each connection may have one request in flight, which the
    service serves and counts but wrk does not. Requests that this process sends are counted exactly.
    """

    def __init__(self, service: Service, api_key: str, *others: Site) -> None:
        """``others`` are the sites of further services on the same database."""
        self._service, self._api_key = service, api_key
        self._sites = [site_of(service), *others]
        self._minimum = self._maximum = self._errors = 0
        self._before = self._counted()

    def add(self, result: LoadResult) -> LoadResult:
        self._minimum += result.requests
        self._maximum += result.requests + result.connections
        self._errors += result.errors
        return result

    @property
    def requests(self) -> int:
        return self._minimum

    def sample(self, links: Mapping[str, str]) -> None:
        """Compare real responses byte for byte with the destinations in the database."""
        with closing(Connection(self._service.port)) as visitor:
            for code in random.sample(sorted(links), min(SAMPLE, len(links))):
                redirect = visitor.call("GET", f"/{code}", Referer="https://www.example.com/page")
                response = (redirect.status, redirect.headers.get_all("Location"), redirect.body)
                if response != (302, [links[code]], b""):
                    raise AssertionError(f"/{code}: {response}, not {links[code]}")
                self._minimum, self._maximum = self._minimum + 1, self._maximum + 1

    def settle(self) -> None:
        """Wait for the drainer and print the verdict."""
        seconds = sum(map(drained, self._sites))
        counters, events, reported = (
            now - before for now, before in zip(self._counted(), self._before, strict=True)
        )
        audit = self._sites[0].audit().strip()
        is_exact = (
            self._minimum <= counters <= self._maximum and counters == events == reported and not self._errors
        )
        print(
            f"redirected {self._minimum:,} (and at most {self._maximum - self._minimum:,} in flight when wrk stopped),"
            f" counted {counters:,}, reported {reported:,}, raw clicks {events:,}; errors {self._errors};"
            f" audit: {audit}"
            f"\nevery redirect was counted exactly once: {'yes' if is_exact else 'NO'}"
            f"   (drained {seconds:.0f} s after the load)",
            flush=True,
        )

    def _counted(self) -> tuple[int, int, int]:
        """Clicks according to the links' counters, the raw clicks and the API's statistics."""
        [(counters, events)] = self._sites[0].rows(
            "SELECT (SELECT sum(clicks) FROM links_clickcounter)::bigint,"
            " (SELECT count(*) FROM analytics_rawclick WHERE kind = 0)"
        )
        stats = self._service.call("GET", "/api/urls/stats", X_API_Key=self._api_key).json()
        return counters, events, stats["totalClicks"]
