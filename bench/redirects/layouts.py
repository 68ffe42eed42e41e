"""Redirects beside API clients: shared workers compared with separate API workers."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from bench.harness.running import site_of
from bench.load.visits import Visits
from bench.redirects import paced
from bench.redirects.ledger import Ledger
from bench.redirects.paced import Subject
from bench.redirects.warm import warm
from testing.proof.site import Site
from testing.service.drainer import drainer_held
from testing.service.running import Service

# API_CONCURRENCY by name. With 0 the redirect workers also serve the API.
LAYOUTS = {"shared workers": "0", "separate API workers": "2"}
WORKERS = 2


def run(service: Service, api_key: str, visits: Visits, folder: Path, *, seconds: int, rounds: int) -> None:
    """Each layout runs as a separate service on the database of ``service``. Services without load sleep."""
    site = site_of(service)
    with ExitStack() as stack:
        services, sites = {}, []
        for number, (name, workers) in enumerate(LAYOUTS.items()):
            installation_folder = folder / f"layout{number}"
            installation_folder.mkdir()
            services[name] = beside = Service(
                installation_folder,
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
            subjects = {name: Subject(layout.port, api_key, ledger) for name, layout in services.items()}
            paced.run(subjects, visits, seconds, rounds)
        ledger.settle()
