"""Gives an empty database the recorded schema instead of running every migration."""

from __future__ import annotations

from django.db import transaction
from django.db.backends.utils import CursorWrapper

from shortener_project.recorded_schema import SCHEMA

# The tables of a service may be in a later schema of the search path. A view may belong to an extension, such as
# pg_stat_statements.
_HAS_TABLES = """
SELECT to_regclass('django_migrations') IS NOT NULL OR EXISTS (
    SELECT FROM pg_class
    WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND relkind IN ('r', 'p')
)
"""


def install_if_empty(cursor: CursorWrapper) -> None:
    """In one transaction, so an interrupted call leaves the database empty.

    Does nothing if the first schema of the search path has a table, or another one the migrations' table.

    The database then lacks the migrations that are newer than the recorded schema. Hold the preparation lock.
    """
    cursor.execute(_HAS_TABLES)
    if cursor.fetchone() == (False,):
        with transaction.atomic():
            cursor.execute(SCHEMA.read_text())
