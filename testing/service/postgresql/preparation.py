"""Blocking the preparation of a service's database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from shortener_project.running.preparation import PREPARATION_LOCK
from testing.service.running import eventually


@contextmanager
def preparation_held(url: str) -> Iterator[Callable[[int], None]]:
    """Inside, no service can prepare this database. Yields a function that waits until that many services block."""
    # A waiting service polls in one session.
    query = """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'SELECT pg_try_advisory_lock(%'
    """
    with psycopg.connect(url, autocommit=True) as connection:

        def wait_for_blocked(services: int) -> None:
            eventually(lambda: connection.execute(query).fetchone() == (services,))

        connection.execute("SELECT pg_advisory_lock(%s)", [PREPARATION_LOCK])
        yield wait_for_blocked
