"""The names of columns in the history, in the table ``accounts_historyname``.

Apart from `accounts.history`, because declarations of fields and migrations use them before there are models.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from django.db import connection


class HistoryName(NamedTuple):
    """What the history calls a column, or, in the form "object", the columns of several ``parts``.

    The SQL function ``accounts_shown`` has the forms.
    """

    name: str
    columns: list[str]
    form: str = "plain"
    parts: list[str] | None = None


_NAME = """
INSERT INTO accounts_historyname (table_name, name, columns, form, parts) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (table_name, name) DO UPDATE SET columns = EXCLUDED.columns, form = EXCLUDED.form, parts = EXCLUDED.parts
"""


def write_history_names(table: str, names: Iterable[HistoryName]) -> None:
    """Insert or update the names of a table. Migrations call this.

    Some may be names of later migrations: a column that does not exist yet never changes.
    """
    with connection.cursor() as cursor:
        cursor.executemany(_NAME, [(table, *name) for name in names])
