"""`manage.py serve`, as users run it: with the embedded database, in the folder that `bench.stack.home` gives, or on
the database that `bench.stack.database` makes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection

from bench.proof.site import Site
from shortener_project.embedded_postgres import EmbeddedPostgres
from tests.service.running import REPOSITORY, Connection, Service, eventually, free_port

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


@contextmanager
def served() -> Iterator[tuple[int, int]]:
    """On the database of `bench.stack`, which is kept. Gives the port, and who is every other process's parent."""
    port = free_port()
    environment = os.environ | {"PORT": str(port), "BASE_URL": f"http://127.0.0.1:{port}"}
    command = [sys.executable, "manage.py", "serve"]
    process = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=subprocess.DEVNULL)
    try:
        eventually(lambda: _is_ready(port))
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _is_ready(port: int) -> bool:
    with suppress(OSError), closing(Connection(port)) as client:
        return client.ask("GET", "/readyz").status == 200
    return False


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
    url = service.environment.get("DATABASE_URL") or EmbeddedPostgres(service.var_dir).url
    with psycopg.connect(url, autocommit=True) as database:
        eventually(lambda: _stopped_between_batches(pid, database))
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _stopped_between_batches(drainer: int, database: psycopg.Connection[Any]) -> bool:
    """Within one it would hold locks that others wait for, those who create links among them."""
    os.kill(drainer, signal.SIGSTOP)
    # What it has asked for last is answered by then.
    time.sleep(0.2)
    within = database.execute(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND backend_type = 'client backend' AND state <> 'idle'"
    ).fetchall()
    if within:
        os.kill(drainer, signal.SIGCONT)
    return not within


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
