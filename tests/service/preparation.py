"""What a service does to its database before it serves, and alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from shortener_project.management.commands.serve import PREPARATION_LOCK
from tests.service.running import eventually


@contextmanager
def preparation_held(url: str) -> Iterator[Callable[[int], None]]:
    """Inside, no service gets beyond preparing this database. Gives what waits until so many are held up."""
    query = """
        SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """
    with psycopg.connect(url, autocommit=True) as connection:

        def wait_for_waiting(services: int) -> None:
            eventually(lambda: connection.execute(query).fetchone() == (services,))

        connection.execute("SELECT pg_advisory_lock(%s)", [PREPARATION_LOCK])
        yield wait_for_waiting
