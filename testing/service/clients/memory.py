"""Reads a worker's view of a link over a dedicated connection, and defines changes that must reach it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg

from testing.service.running import Connection


def status_and_location(connection: Connection, code: str) -> tuple[int, str | None]:
    response = connection.call("GET", f"/{code}")
    return response.status, response.headers["Location"]


CHANGES: list[dict[str, Any]] = [
    {"isActive": False},
    {"isActive": True, "expiresAt": None, "password": None, "redirectType": 302},
    {"redirectType": 301},
    {"expiresAt": "2020-01-01T00:00:00Z"},
    {"expiresAt": None},
    {"password": "secret"},
    {"targetUrl": "https://example.com/moved"},
    {"targetUrl": None},
]
UNCHANGED: dict[str, Any] = {
    "isActive": True,
    "expiresAt": None,
    "password": None,
    "redirectType": 302,
    "targetUrl": None,
}


def expected(fields: dict[str, Any], destination: str) -> tuple[int, str | None]:
    """What `status_and_location` returns for a link to ``destination`` with these fields."""
    if not fields["isActive"] or fields["expiresAt"]:
        return 410, None
    if fields["password"]:
        return 401, None
    return fields["redirectType"], fields["targetUrl"] or destination


@contextmanager
def without(database: str) -> Iterator[None]:
    """Inside, the database refuses connections; existing ones are terminated."""
    name = urlsplit(database).path[1:]
    server = urlsplit(database)._replace(path="/postgres").geturl()
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
        )
        try:
            yield
        finally:
            connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
