"""What a worker knows of links, asked on a connection of its own; and changes for it to learn of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg

from tests.service.running import Connection


def seen(door: Connection, code: str) -> tuple[int, str | None]:
    answer = door.ask("GET", f"/{code}")
    return answer.status, answer.headers["Location"]


CHANGES: list[dict[str, Any]] = [
    {"isActive": False},
    {"isActive": True, "expiresAt": None, "password": None, "redirectType": 302},
    {"redirectType": 301},
    {"expiresAt": "2020-01-01T00:00:00Z"},
    {"expiresAt": None},
    {"password": "secret"},
]


def expected_status(fields: dict[str, Any]) -> int:
    if not fields["isActive"] or fields["expiresAt"]:
        return 410
    return 401 if fields["password"] else int(fields["redirectType"])


@contextmanager
def without(database: str) -> Iterator[None]:
    """Nobody can reach it, and whoever was connected is not any more."""
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
