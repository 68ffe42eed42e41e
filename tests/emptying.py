"""Empties the database after a test with transactions of its own, in a tenth of the time of Django's `flush`.

`flush` truncates every table, which makes new files for each table and index, and then creates the content types and
permissions again. A test writes to a few tables; deleting their rows costs next to nothing. Partitions that the test
created are dropped, because the next test of this database may be about their creation.

Django also opens a new connection for each of these tests, which then reads the system catalogs again. Here, the test
keeps the connection of its predecessor, without the state of its session, unless it closed that connection itself.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from django.db import connection
from django.test import TransactionTestCase

from common.database import in_one_transaction, prepared_cursor

# No test changes them, and nothing works without them.
KEPT = {"auth_permission", "django_content_type"}
# No trigger deletes its rows here. The introspection cannot list it: it would list temporary tables, too.
WITHOUT_MODEL = {"links_searchable"}
# A migration inserts it. pytest-xdist may run any test after this one in the same database.
INITIAL_ROWS = "INSERT INTO analytics_closedday VALUES ('1970-01-01')"
# A migration creates the default partition only.
PARTITIONS = """
SELECT inhrelid::regclass::text FROM pg_inherits
WHERE inhparent = 'analytics_rawclick'::regclass AND inhrelid <> 'analytics_rawclick_default'::regclass
"""
# What DISCARD ALL does, but plans and prepared statements stay, and psycopg still knows them.
END_OF_SESSION = """
SET SESSION AUTHORIZATION DEFAULT; RESET ALL; CLOSE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all();
DISCARD TEMP; DISCARD SEQUENCES
"""
_flush = TransactionTestCase._fixture_teardown
_fixture_setup = TransactionTestCase._fixture_setup.__func__
_connection_at_start: Any = None


def install() -> None:
    TransactionTestCase._fixture_setup = classmethod(_open_connection)
    TransactionTestCase._fixture_teardown = restore_database
    TransactionTestCase._should_reload_connections = _is_connection_changed


def _open_connection(case: Any) -> None:
    """Open the connection before the test can change its settings."""
    global _connection_at_start  # noqa: PLW0603 # at most one test runs
    connection.ensure_connection()
    _connection_at_start = connection.connection
    _fixture_setup(case)


def _is_connection_changed(case: Any) -> bool:
    """Whether Django closes the connection. One that the test opened may have the options that it wanted."""
    is_idle = not connection.in_atomic_block and connection.get_autocommit()
    return connection.connection is not _connection_at_start or not is_idle


def restore_database(case: Any) -> None:
    if _is_superuser():
        # The server of a test in a browser may still handle a late request, whose locks can lead to a deadlock.
        in_one_transaction(_delete_rows)
    else:
        _flush(case)
        with connection.cursor() as cursor:
            cursor.execute(INITIAL_ROWS)
    _drop_partitions()
    _end_session()


def _delete_rows() -> None:
    # Otherwise, planning this query would take most of the time.
    with prepared_cursor() as cursor:
        cursor.execute(_query_for_used_tables())
        used = [table for (table,) in cursor.fetchall()]
    if used:
        with connection.cursor() as cursor:
            # Triggers and foreign keys are disabled; rows that refer to these rows are deleted as well.
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute("; ".join([*(f"DELETE FROM {table}" for table in used), INITIAL_ROWS]))


def _drop_partitions() -> None:
    with connection.cursor() as cursor:
        cursor.execute(PARTITIONS)
        if names := ", ".join(name for (name,) in cursor.fetchall()):
            cursor.execute(f"DROP TABLE {names}")


def _end_session() -> None:
    with connection.cursor() as cursor:
        cursor.execute(END_OF_SESSION)
    # psycopg keeps the notifications that the test did not read.
    list(connection.connection.notifies(timeout=0))
    connection.ensure_timezone()


@cache
def _query_for_used_tables() -> str:
    tables = set(connection.introspection.django_table_names(only_existing=True)) - KEPT | WITHOUT_MODEL
    return " UNION ALL ".join(
        f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table})" for table in sorted(tables)
    )


@cache
def _is_superuser() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        return bool(cursor.fetchone()[0])
