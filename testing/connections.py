"""The connection of a test to its database, and other connections to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection

from testing.polling import DEADLINE


def connect_elsewhere() -> psycopg.Connection[tuple[object, ...]]:
    server = connection.settings_dict
    return psycopg.connect(
        host=server["HOST"],
        port=server["PORT"],
        user=server["USER"],
        password=server["PASSWORD"],
        dbname=server["NAME"],
        autocommit=True,
    )


def kill_backend() -> None:
    """Terminate our connection without notice, as a server restart does."""
    connection.ensure_connection()
    pid = connection.connection.info.backend_pid
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, %s)", [pid, DEADLINE * 1000])
            cursor.execute("SELECT FROM pg_stat_activity WHERE pid = %s", [pid])
            assert cursor.fetchall() == []
    finally:
        other.close()


def is_a_connection_blocked() -> bool:
    """Whether a statement of any connection waits for a lock."""
    with connection.cursor() as cursor:
        # Otherwise a transaction sees the activity of its first look.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return cursor.fetchone() is not None


def rows(query: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def force_nested_loops() -> None:
    """Until the end of the transaction, allow only nested loop joins, which evaluate the inner query once per outer
    row.
    """
    with connection.cursor() as cursor:
        for kind in ("hashjoin", "mergejoin", "hashagg", "sort", "material", "memoize"):
            cursor.execute(f"SET LOCAL enable_{kind} = off")


@pytest.fixture(autouse=True)
def closed_connection(transactional_db: None) -> Iterator[None]:
    """Closed after each test: the test leaves it broken or with the short timeouts of the service."""
    yield
    connection.close()
