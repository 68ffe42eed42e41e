"""Runs `manage.py serve` as users do.

The database is the embedded one in the folder of `bench.harness.stack.service_folder`, or that of
`bench.harness.stack.database`.
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

from django.db import connection

from local_postgres import EmbeddedPostgres
from testing.proof.site import Site
from testing.service.running import REPOSITORY, Connection, Service, eventually, free_port

# Time limit for counting all clicks. Two compiled workers leave millions of them in a few minutes.
DRAIN_SECONDS = 1_800
POLL_SECONDS = 0.2


@contextmanager
def installation(folder: Path, **environment: str) -> Iterator[Service]:
    """A running service. It keeps its data when it is stopped and started again."""
    service = Service(folder / "service", LOG_LEVEL="WARNING", **environment)
    try:
        service.start()
        yield service
    finally:
        connection.close()
        service.end()


@contextmanager
def served(**environment: str) -> Iterator[tuple[int, int]]:
    """A service on the database of `bench.harness.stack`. Yields its port and the process id of the supervisor."""
    port = free_port()
    variables = os.environ | {"PORT": str(port), "BASE_URL": f"http://127.0.0.1:{port}"} | environment
    command = [sys.executable, "manage.py", "serve"]
    process = subprocess.Popen(command, cwd=REPOSITORY, env=variables, stdout=subprocess.DEVNULL)
    try:
        eventually(lambda: _is_ready(port))
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _is_ready(port: int) -> bool:
    with suppress(OSError), closing(Connection(port)) as client:
        return client.call("GET", "/readyz").status == 200
    return False


def restart(service: Service, **environment: str) -> None:
    service.stop()
    service.environment |= environment
    service.start()


def site_of(service: Service) -> Site:
    secret = (service.var_dir / "secret_key").read_text().strip()
    return Site(service.var_dir, EmbeddedPostgres(service.var_dir).url, secret)


def drained(site: Site) -> float:
    """Wait until the journal is empty. Returns the seconds."""
    started = time.monotonic()
    while site.backlog():
        if time.monotonic() - started > DRAIN_SECONDS:
            raise TimeoutError("The journal is not drained.")
        time.sleep(POLL_SECONDS)
    return time.monotonic() - started


def poll_backlog(site: Site, seconds: float) -> None:
    """Query the backlog as `drained` does. Its connections take time from clients, so a comparison needs them, too."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        site.backlog()
        time.sleep(POLL_SECONDS)


def web_server(service: Service) -> int:
    eventually(service.workers)
    return service.gunicorn()
