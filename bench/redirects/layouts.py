"""Redirects beside clients of the API: workers that serve both, against workers of the API's own."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from bench.proof.site import Site
from bench.redirects import paced
from bench.redirects.ledger import Ledger
from bench.redirects.paced import Subject
from bench.redirects.warm import warm
from bench.running import drainer_held, site_of
from bench.visits import Visits
from tests.service.running import Service

# API_CONCURRENCY by name: 0 leaves the API to the workers that redirect.
LAYOUTS = {"shared workers": "0", "workers of the API's own": "2"}
WORKERS = 2


def run(service: Service, api_key: str, visits: Visits, folder: Path, *, seconds: int, rounds: int) -> None:
    """Each on a service of its own beside the given one, on its database; who is not asked sleeps."""
    site = site_of(service)
    with ExitStack() as stack:
        services, sites = {}, []
        for number, (name, workers) in enumerate(LAYOUTS.items()):
            home = folder / f"layout{number}"
            home.mkdir()
            services[name] = beside = Service(
                home,
                DATABASE_URL=site.url,
                SECRET_KEY=site.secret,
                WEB_CONCURRENCY=str(WORKERS),
                API_CONCURRENCY=workers,
                LOG_LEVEL="WARNING",
            )
            stack.callback(beside.end)
            beside.start()
            sites.append(Site(beside.var_dir, site.url, site.secret))
        ledger = Ledger(service, api_key, *sites)
        with ExitStack() as held:
            for beside in services.values():
                held.enter_context(drainer_held(beside))
                warm(ledger, beside, visits)
            subjects = {name: Subject(each.port, api_key, ledger) for name, each in services.items()}
            paced.run(subjects, visits, seconds, rounds)
        ledger.settle()
