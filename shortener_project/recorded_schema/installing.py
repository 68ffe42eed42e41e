"""Gives an empty database the recorded schema instead of running every migration."""

from __future__ import annotations

from django.db import transaction
from django.db.backends.utils import CursorWrapper

from shortener_project.recorded_schema import SCHEMA

# A view may belong to an extension, such as pg_stat_statements.
_HAS_TABLES = """
SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p'))
"""


def install_if_empty(cursor: CursorWrapper) -> None:
    """In one transaction, so an interrupted call leaves the database empty. Does nothing if there is any table.

    The database then lacks the migrations that are newer than the recorded schema. Hold the preparation lock.
    """
    cursor.execute(_HAS_TABLES)
    if cursor.fetchone() == (False,):
        with transaction.atomic():
            cursor.execute(SCHEMA.read_text())
