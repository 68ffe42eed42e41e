"""What the service has answered, against what it says it has counted; and whether it sends visitors the right way."""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import closing

from bench.proof.site import Site
from bench.running import drained, site_of
from bench.wrk import Answered
from tests.service.running import Connection, Service

SAMPLE = 1_000


class Ledger:
    """wrk counts an answer when it has it, so when it stops, each of its connections may have one more under way,
    which is answered and counted, but not by wrk. Hence a least and a most; what this process asks is exact.
    """

    def __init__(self, service: Service, api_key: str, *others: Site) -> None:
        """``others``: of services beside it, on its database."""
        self._service, self._api_key = service, api_key
        self._sites = [site_of(service), *others]
        self._least = self._most = self._errors = 0
        self._before = self._counted()

    def add(self, answered: Answered) -> Answered:
        self._least += answered.requests
        self._most += answered.requests + answered.connections
        self._errors += answered.errors
        return answered

    @property
    def requests(self) -> int:
        return self._least

    def sample(self, links: Mapping[str, str]) -> None:
        """Real answers, compared byte for byte with what the database says."""
        with closing(Connection(self._service.port)) as visitor:
            for code in random.sample(sorted(links), min(SAMPLE, len(links))):
                answer = visitor.ask("GET", f"/{code}", Referer="https://www.example.com/page")
                found = (answer.status, answer.headers.get_all("Location"), answer.body)
                if found != (302, [links[code]], b""):
                    raise AssertionError(f"/{code}: {found}, not {links[code]}")
                self._least, self._most = self._least + 1, self._most + 1

    def settle(self) -> None:
        """Waits for the drainer, and prints the verdict."""
        seconds = sum(map(drained, self._sites))
        counters, events, reported = (
            now - before for now, before in zip(self._counted(), self._before, strict=True)
        )
        audit = self._sites[0].audit().strip()
        right = self._least <= counters <= self._most and counters == events == reported and not self._errors
        print(
            f"answered {self._least:,} (and at most {self._most - self._least:,} under way when wrk stopped), counted"
            f" {counters:,}, reported {reported:,}, single clicks {events:,}; errors {self._errors}; audit: {audit}"
            f"\nevery answered click was counted, once: {'yes' if right else 'NO'}"
            f"   (drained {seconds:.0f} s after the load)",
            flush=True,
        )

    def _counted(self) -> tuple[int, int, int]:
        """By the links' counters, single clicks, and the statistics of the API."""
        [(counters, events)] = self._sites[0].rows(
            "SELECT (SELECT sum(clicks) FROM links_clickcounter)::bigint,"
            " (SELECT count(*) FROM analytics_click WHERE kind = 0)"
        )
        stats = self._service.ask("GET", "/api/urls/stats", X_API_Key=self._api_key).json()
        return counters, events, stats["totalClicks"]
