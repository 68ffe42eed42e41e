"""COPY in PostgreSQL's binary format: the server does not parse numbers, and nothing has to be escaped."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection

_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"


def copy_rows(target: str, rows: Iterable[bytes]) -> None:
    """Copy rows, each with its number of columns and their sizes, to ``target``: a table, and columns if not all."""
    # Django translates the errors of statements, but not of COPY.
    with (
        connection.cursor() as cursor,
        connection.wrap_database_errors,
        cursor.copy(f"COPY {target} FROM STDIN (FORMAT BINARY)") as copy,
    ):
        copy.write(b"".join((_HEADER, *rows, _END)))
