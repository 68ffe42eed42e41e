"""Other connections to the database of a test."""

from __future__ import annotations

import psycopg
from django.db import connection


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


def is_a_connection_blocked() -> bool:
    """Whether a statement of any connection waits for a lock."""
    with connection.cursor() as cursor:
        # Otherwise a transaction sees the activity of its first look.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return cursor.fetchone() is not None
