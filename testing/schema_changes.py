"""What a change of the schema breaks for the previous release, whose hosts run on it during an upgrade.

The rules are in CONTRIBUTING.md, "Releases". `problems` compares the catalog before and after the migrations of a
release, so it also sees what raw SQL does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

Rows = list[tuple[str, ...]]
# What a release may remove or narrow although its predecessor's code has the name, with the reason.
EXCEPTIONS: Mapping[str, str] = {}

_OWN = """
    n.nspname = 'public'
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = {oid} AND d.deptype = 'e')
"""
_COLUMNS = f"""
SELECT c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod),
    CASE WHEN a.attnotnull THEN 'NOT NULL' ELSE '' END,
    CASE WHEN a.atthasdef OR a.attidentity <> '' THEN 'DEFAULT' ELSE '' END
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition
    AND {_OWN.format(oid="c.oid")}
"""
_FUNCTIONS = f"""
SELECT p.proname, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid)
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE {_OWN.format(oid="p.oid")}
"""
# Each with its table, its definition and its columns. A unique index is a rule, too: ON CONFLICT may name its columns.
_RULES = f"""
SELECT coalesce(k.conname, i.relname), c.relname, coalesce(pg_get_constraintdef(k.oid), pg_get_indexdef(x.indexrelid)),
    array_to_string(ARRAY(
        SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attnum = ANY (coalesce(k.conkey, x.indkey::int2[]))
    ), ' ')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN (
    SELECT conrelid AS of, oid AS constraint_id, NULL AS index_id FROM pg_constraint
    WHERE contype IN ('c', 'f', 'p', 'u', 'x')
    UNION ALL SELECT indrelid, NULL, indexrelid FROM pg_index
    WHERE indisunique AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
) found ON found.of = c.oid
LEFT JOIN pg_constraint k ON k.oid = found.constraint_id
LEFT JOIN pg_index x ON x.indexrelid = found.index_id LEFT JOIN pg_class i ON i.oid = found.index_id
WHERE NOT c.relispartition AND {_OWN.format(oid="c.oid")}
"""


class Column(NamedTuple):
    type: str
    not_null: str
    default: str


class Rule(NamedTuple):
    """A constraint or a unique index. ``columns``: their names, separated by spaces."""

    table: str
    definition: str
    columns: str


class Schema(NamedTuple):
    """``columns`` by "table.column", of views, too; ``functions`` as name, arguments and result."""

    columns: dict[str, Column]
    functions: set[tuple[str, ...]]
    rules: dict[str, Rule]

    @property
    def tables(self) -> set[str]:
        return {name.partition(".")[0] for name in self.columns}


def read_schema(query: Callable[[str], Rows]) -> Schema:
    """``query`` executes a statement and returns its rows."""
    return Schema(
        {name: Column(*rest) for name, *rest in query(_COLUMNS)},
        set(query(_FUNCTIONS)),
        {name: Rule(*rest) for name, *rest in query(_RULES)},
    )


def problems(before: Schema, after: Schema, is_used: Callable[[str], bool]) -> list[str]:
    """What fails on hosts of the previous release. ``is_used``: whether its code contains this word."""
    found = [*_removed(before, after, is_used), *_narrowed_columns(before, after), *_narrowed(before, after)]
    return sorted(problem for problem in found if problem.split()[0] not in EXCEPTIONS)


def _removed(before: Schema, after: Schema, is_used: Callable[[str], bool]) -> list[str]:
    columns = [
        name for name in before.columns.keys() - after.columns.keys() if is_used(name.partition(".")[2])
    ]
    functions = {name for name, *_ in before.functions - after.functions if is_used(name)}
    # A trigger or another function may be the only caller; then both change in one transaction.
    return [f"{name} is removed, and the previous release uses it" for name in {*columns, *functions}]


def _narrowed_columns(before: Schema, after: Schema) -> list[str]:
    found = []
    for name, column in after.columns.items():
        former = before.columns.get(name)
        if former is None:
            is_of_former_table = name.partition(".")[0] in before.tables
            if is_of_former_table and column.not_null and not column.default:
                found.append(f"{name} is new and NOT NULL, without a default of the database")
            continue
        if column.type != former.type:
            found.append(f"{name} changes its type from {former.type} to {column.type}")
        if column.not_null and not former.not_null:
            found.append(f"{name} becomes NOT NULL")
        elif column.not_null and former.default and not column.default:
            found.append(f"{name} loses its default")
    return found


def _narrowed(before: Schema, after: Schema) -> list[str]:
    found = []
    for name, rule in after.rules.items():
        new = {column for column in rule.columns.split() if f"{rule.table}.{column}" not in before.columns}
        if rule.table in before.tables and before.rules.get(name) != rule and not new:
            found.append(f"{name} restricts what the previous release may write to {rule.table}")
    for name in before.rules.keys() - after.rules.keys():
        rule = before.rules[name]
        if rule.table in after.tables and "UNIQUE" in rule.definition:
            found.append(f"{name} is removed, and an ON CONFLICT of the previous release may need it")
    return found


def words_of(code: Path) -> set[str]:
    """All words of the code in this folder that runs after the migrations."""
    return {
        word
        for pattern in ("*.py", "*.sql")
        for path in code.glob(f"*/**/{pattern}")
        if not {"migrations", "tests", "testing", "bench", ".venv"} & set(path.relative_to(code).parts)
        for word in re.findall(r"\w+", path.read_text())
    }
