"""Migration steps that make a workspace, instead of an account, the owner of a table's rows.

No row changes, because a personal workspace has the number of its account. Redirects and creations go on: the first
step holds its locks for milliseconds, and the second one, which reads the table, blocks neither reads nor writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import connection
from django.db.migrations import RunPython

from common.ddl import change_tables

_FORMER = """
SELECT conname FROM pg_constraint
WHERE contype = 'f' AND conrelid = %s::regclass AND confrelid = %s::regclass
    AND conkey = (SELECT ARRAY[attnum] FROM pg_attribute WHERE attrelid = %s::regclass AND attname = 'owner_id')
"""


def refer_to_workspaces(tables: Mapping[str, str]) -> RunPython:
    """``tables``: what a deletion of the workspace does to the rows of each table, as in ``ON DELETE``.

    For a migration with ``atomic = False``. A deletion that does nothing to the rows fails as long as they exist.
    """

    def forward(*_: Any) -> None:
        for table, on_delete in tables.items():
            _replace(table, "accounts_user", "accounts_workspace", on_delete)

    def backward(*_: Any) -> None:
        for table in tables:
            _replace(table, "accounts_workspace", "accounts_user", "NO ACTION")

    return RunPython(forward, backward)


def _replace(table: str, former: str, new: str, on_delete: str) -> None:
    name = f"{table}_owner_id_fk_{new}_id"
    with connection.cursor() as cursor:
        cursor.execute(_FORMER, [table, former, table])
        replaced = [constraint for (constraint,) in cursor.fetchall()]
        # None after an earlier run that failed between the two steps.
        if replaced:
            drops = ", ".join(f'DROP CONSTRAINT "{constraint}"' for constraint in replaced)
            change = (
                f"ALTER TABLE {table} {drops}, ADD CONSTRAINT {name} FOREIGN KEY (owner_id)"
                f" REFERENCES {new} (id) ON DELETE {on_delete} DEFERRABLE INITIALLY DEFERRED NOT VALID"
            )
            change_tables(lambda: cursor.execute(change))
        cursor.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")
