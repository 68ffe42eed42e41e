"""Processor time, which other load on the machine inflates far less than elapsed time."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from django.db import connection


def seconds(process: int, database: str | None = None) -> float:
    """Processor seconds of a process, its threads, its children, and every PostgreSQL backend of a database.

    ``database`` is a name on the same server; by default the database of the settings.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = coalesce(%s, current_database())", [database]
        )
        databases = [pid for (pid,) in cursor.fetchall()]
    return sum(map(process_seconds, [process, *_children(process), *databases]))


def _children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def process_seconds(process: int) -> float:
    nanoseconds = 0
    # A thread can end while its folder is read.
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            nanoseconds += int((task / "schedstat").read_text().split()[0])
    return nanoseconds / 1e9
