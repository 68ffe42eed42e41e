"""An installation in the folder that `bench.stack.home` gives: `manage.py serve` with the embedded database, as users
run it.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

from bench.proof.site import Site
from shortener_project.embedded_postgres import EmbeddedPostgres
from tests.service.running import Service, eventually

# Within which everything that was clicked must be counted.
DRAIN_SECONDS = 600


@contextmanager
def installation(home: Path, **environment: str) -> Iterator[Service]:
    """Running. What is stopped and started again keeps its data."""
    service = Service(home / "service", LOG_LEVEL="WARNING", **environment)
    try:
        service.start()
        yield service
    finally:
        connection.close()
        service.end()


def restart(service: Service, **environment: str) -> None:
    service.stop()
    service.environment |= environment
    service.start()


def site_of(service: Service) -> Site:
    secret = (service.var_dir / "secret_key").read_text().strip()
    return Site(service.var_dir, EmbeddedPostgres(service.var_dir).url, secret)


@contextmanager
def drainer_held(service: Service) -> Iterator[None]:
    """Clicks are journalled and left there: on two cores, counting them would take one from what is measured."""
    pid = service.child("drain_clicks")
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def drained(site: Site) -> float:
    """Seconds until nothing is left in the journal."""
    started = time.monotonic()
    while site.backlog():
        if time.monotonic() - started > DRAIN_SECONDS:
            raise TimeoutError("The journal is not drained.")
        time.sleep(0.2)
    return time.monotonic() - started


def web_server(service: Service) -> int:
    eventually(service.workers)
    return service.gunicorn()
