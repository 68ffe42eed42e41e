"""Pausing the click drainer."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from local_postgres import EmbeddedPostgres
from testing.service import processes
from testing.service.running import Service, eventually


@contextmanager
def drainer_held(service: Service) -> Iterator[None]:
    """Stop the drainer, so that clicks stay in the journal: on two cores, counting would distort a measurement."""
    pid = service.child("drain_clicks")
    url = service.environment.get("DATABASE_URL") or EmbeddedPostgres(service.var_dir).url
    with psycopg.connect(url, autocommit=True) as database:
        eventually(lambda: _stopped_between_batches(pid, database))
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _stopped_between_batches(drainer: int, database: psycopg.Connection[Any]) -> bool:
    """Stop the drainer unless it is inside a batch, where it holds locks that creating a link needs."""
    os.kill(drainer, signal.SIGSTOP)
    eventually(lambda: processes.is_stopped(drainer))
    # Give the server time to finish the drainer's last query.
    time.sleep(0.2)
    active_queries = database.execute(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND backend_type = 'client backend' AND state <> 'idle'"
    ).fetchall()
    if active_queries:
        os.kill(drainer, signal.SIGCONT)
    return not active_queries
