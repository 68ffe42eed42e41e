"""Outages of the database and lost connections, as visitors notice them."""

from collections.abc import Callable
from typing import Any

from django.db import close_old_connections, connection
from django.http import HttpResponse

from testing.polling import DEADLINE

MakeLink = Callable[..., dict[str, Any]]
Visit = Callable[[], HttpResponse]


def serve(visit: Visit) -> HttpResponse:
    """Run a request with the signals of a server, which the test client omits."""
    close_old_connections()
    try:
        return visit()
    finally:
        close_old_connections()


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
