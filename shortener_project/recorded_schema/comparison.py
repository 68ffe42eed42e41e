"""Compares a database with the recorded schema, if it was migrated before it stored the digests of its migrations."""

from __future__ import annotations

import re
import secrets

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from shortener_project.recorded_schema import SCHEMA
from shortener_project.recorded_schema.applied import (
    applied_migrations,
    other_schema,
    store_digests,
    summary,
    unverified_migrations,
)

# PostgreSQL writes the casts and parentheses of a condition in another way once it has read its own dump.
CASTS = re.compile(r"::(character varying|text)(\[\])?|[()]")
# Names and definitions.
_OBJECTS = """
WITH tables AS (
    SELECT oid, relname FROM pg_class WHERE relnamespace = %(schema)s::regnamespace AND relkind IN ('r', 'p')
)
SELECT relname || '.' || attname, concat_ws(
    ' ', format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, pg_get_expr(adbin, adrelid)
)
FROM pg_attribute JOIN tables ON tables.oid = attrelid
LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE attnum > 0 AND NOT attisdropped AND (relname, attname) <> ('django_migrations', 'digest')
UNION ALL
SELECT proname || '(' || pg_get_function_identity_arguments(oid) || ')', concat_ws(
    ' ', format_type(prorettype, NULL), provolatile, proisstrict, prosecdef, prosrc
)
FROM pg_proc WHERE pronamespace = %(schema)s::regnamespace
UNION ALL
SELECT 'constraint ' || relname || '.' || conname, pg_get_constraintdef(pg_constraint.oid)
FROM pg_constraint JOIN tables ON tables.oid = conrelid
-- Rows of contype 'n' exist since PostgreSQL 18; the columns above have the same.
WHERE contype <> 'n' AND conparentid = 0
UNION ALL
SELECT 'index ' || indexes.relname, pg_get_indexdef(indexrelid)
FROM pg_index JOIN pg_class indexes ON indexes.oid = indexrelid JOIN tables ON tables.oid = indrelid
UNION ALL
SELECT 'trigger ' || relname || '.' || tgname, pg_get_triggerdef(pg_trigger.oid)
FROM pg_trigger JOIN tables ON tables.oid = tgrelid WHERE NOT tgisinternal AND tgparentid = 0
"""
_TABLE_NAMES = """
SELECT relname::text FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'p')
"""


def verify_unverified() -> None:
    """Stores the digests of this version if the database has its schema. Raises CommandError if it has another one.

    Hold the preparation lock. No migration may be missing.
    """
    if unverified := unverified_migrations(applied_migrations()):
        with connection.cursor() as cursor:
            if different := _differences(cursor):
                raise other_schema(f"it lacks or differs in {summary(different)}")
        store_digests(unverified)


def _differences(cursor: CursorWrapper) -> list[str]:
    """What the recorded schema has and the database has not, and columns of its tables that it has not.

    Other additions are allowed: partitions, and an operator's indexes and tables.
    """
    cursor.execute("SELECT current_schema()")
    [(schema,)] = cursor.fetchall()
    draft = f"recorded_{secrets.token_hex(8)}"
    with transaction.atomic():
        actual = _objects(cursor, schema)
        cursor.execute(f"CREATE SCHEMA {draft}")
        cursor.execute(f"SET LOCAL search_path = {draft}")
        cursor.execute(SCHEMA.read_text())
        expected = _objects(cursor, draft)
        cursor.execute(_TABLE_NAMES, [draft])
        tables = {name for (name,) in cursor.fetchall()}
        transaction.set_rollback(True)
    different = {name for name, definition in expected.items() if actual.get(name) != definition}
    added = {name for name in actual.keys() - expected.keys() if name.partition(".")[0] in tables}
    return sorted(different | added)


def _objects(cursor: CursorWrapper, schema: str) -> dict[str, str]:
    cursor.execute(
        "SELECT set_config('search_path', quote_ident(%s), true), quote_ident(%s)", [schema, schema]
    )
    [(_, quoted)] = cursor.fetchall()
    cursor.execute(_OBJECTS, {"schema": quoted})
    return {
        name: CASTS.sub("", definition.replace(f"{quoted}.", "")) for name, definition in cursor.fetchall()
    }
