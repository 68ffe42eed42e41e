"""The migrations that a database has, with the digests of their texts: a column of Django's own table.

Signals store the digest of each migration with it, also in `manage.py migrate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.signals import post_save, pre_migrate

from common.ddl import change_tables
from shortener_project.recorded_schema.digests import Name, number, own_digests

# A database that was migrated before there were digests lacks the column.
_READ = "SELECT app, name, to_jsonb(migration) ->> 'digest' FROM django_migrations AS migration"
_HAS_COLUMN = """
SELECT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = 'django_migrations'::regclass AND attname = 'digest'
)
"""
_ADD_COLUMN = "ALTER TABLE django_migrations ADD COLUMN IF NOT EXISTS digest text"
_STORE = "UPDATE django_migrations SET digest = %s WHERE app = %s AND name = %s"
# A message names so many differences.
_NAMED = 3

Applied = Mapping[Name, str | None]


def applied_migrations() -> Applied:
    """Each with its digest; None if the database does not know it, as of the migrations of libraries."""
    if not MigrationRecorder(connection).has_table():
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_READ)
        return {(app, name): digest for app, name, digest in cursor.fetchall()}


def foreign_migrations(applied: Applied) -> list[str]:
    """Those that had another text when the database was migrated, and those that this version would know.

    A later version only adds migrations with higher numbers. So a database that is ahead has no foreign ones.
    """
    ours, last = own_digests(), {app: number(name) for app, name in sorted(own_digests())}
    return sorted(
        f"{app}.{name}"
        for (app, name), digest in applied.items()
        if (
            digest not in (None, ours[app, name])
            if (app, name) in ours
            else number(name) <= last.get(app, "")
        )
    )


def unverified_migrations(applied: Applied) -> list[Name]:
    """Ours that the database has without their digests."""
    return [name for name in own_digests() if name in applied and applied[name] is None]


def refuse_foreign_migrations() -> None:
    """Raises CommandError."""
    if foreign := foreign_migrations(applied_migrations()):
        raise other_schema(f"it was migrated by another text of {summary(foreign)}")


def other_schema(reason: str) -> CommandError:
    return CommandError(
        f"The database has the schema of another version: {reason}. Run the version that it belongs to, or give "
        "this one an empty database and move the links with an export and an import."
    )


def summary(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def store_digests(names: Iterable[Name]) -> None:
    """Names that are not ours have none."""
    _add_column()
    with connection.cursor() as cursor:
        for app, name in names:
            cursor.execute(_STORE, [own_digests().get((app, name)), app, name])


def connect_signals() -> None:
    """Call it once the apps are loaded."""
    # Django sends this signal once for each app that has models.
    pre_migrate.connect(_before_migrations, sender=apps.get_app_config("accounts"))
    post_save.connect(_after_migration, sender=MigrationRecorder.Migration)


def _before_migrations(**_: Any) -> None:
    """Raises CommandError."""
    MigrationRecorder(connection).ensure_schema()
    # Not in the transaction of the first migration, whose locks would stop the readiness checks of other hosts.
    _add_column()
    refuse_foreign_migrations()


def _after_migration(instance: Any, **_: Any) -> None:
    """In the transaction of the migration, if it has one."""
    store_digests([(instance.app, instance.name)])


def _add_column() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_HAS_COLUMN)
        if cursor.fetchone() == (False,):
            change_tables(lambda: cursor.execute(_ADD_COLUMN))
