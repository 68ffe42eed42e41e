"""The schema that a database has, and the one that this version needs, found without loading the migrations.

Loading them would take time and memory in each process. Django's table of applied migrations has a further column: the
digest of each migration's text. So a database that a migration with another text has made is refused.
"""

from __future__ import annotations

import hashlib
import pkgutil
import re
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.apps import apps
from django.contrib.auth import get_permission_codename
from django.core.management.base import CommandError
from django.db import connection, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.signals import pre_migrate, pre_save

from common.database import fetch

# The label of an app and the name of a migration.
Name = tuple[str, str]
Applied = Mapping[Name, str | None]

_PROJECT = Path(__file__).parents[2]
_SQL_FILE = re.compile(rb"\w+\.sql\b")
# A database of a version that stored no digests lacks the column.
_READ = "SELECT app, name, to_jsonb(migration) ->> 'digest' FROM django_migrations AS migration"
# A message names so many differences.
_NAMED = 3


@cache
def own_digests() -> dict[Name, str]:
    """Our migrations. Those of libraries have none, because their texts change without a change of what they do."""
    return digests(_PROJECT)


def digests(project: Path) -> dict[Name, str]:
    """The digests of the migrations in this folder."""
    return {
        (path.parents[1].name, path.stem): _digest(path)
        for path in sorted(project.glob("*/migrations/[0-9]*.py"))
    }


def _digest(migration: Path) -> str:
    """A digest of the module and of the SQL files that it names."""
    text = migration.read_bytes()
    digest = hashlib.sha256(text)
    for name in sorted(set(_SQL_FILE.findall(text))):
        digest.update(b"\n%s\n" % name + (migration.parent / "sql" / name.decode()).read_bytes())
    return digest.hexdigest()


def _number(name: str) -> str:
    return name[:4]


def store_digests() -> None:
    """Make Django store the digest of each migration that it applies, and refuse databases of others.

    Call it once, when the apps are loaded.
    """
    MigrationRecorder.Migration.add_to_class("digest", models.TextField(null=True))
    pre_save.connect(_add_digest, sender=MigrationRecorder.Migration)
    # Django sends this signal once for each app that has models.
    pre_migrate.connect(_refuse_before_migrations, sender=apps.get_app_config("accounts"))


def _add_digest(instance: Any, **_: Any) -> None:
    instance.digest = own_digests().get((instance.app, instance.name))


def _refuse_before_migrations(**_: Any) -> None:
    refuse_foreign_migrations()


def applied_migrations() -> Applied:
    """Return each applied migration with its digest; None if the database has none, as for those of libraries."""
    if not MigrationRecorder(connection).has_table():
        return {}
    return {(app, name): digest for app, name, digest in fetch(_READ)}


def foreign_migrations(applied: Applied) -> list[str]:
    """The migrations that had another text when the database was migrated, and those that this version would know.

    A later version only adds migrations with higher numbers. So a database that is ahead has no foreign ones.
    """
    ours, last = own_digests(), {app: _number(name) for app, name in sorted(own_digests())}
    return sorted(
        f"{app}.{name}"
        for (app, name), recorded in applied.items()
        if (recorded != ours[app, name] if (app, name) in ours else _number(name) <= last.get(app, ""))
    )


def refuse_foreign_migrations() -> None:
    """Raise CommandError if the database has the schema of another version."""
    if foreign := foreign_migrations(applied_migrations()):
        raise CommandError(
            f"The database has the schema of another version: it was migrated by another text of "
            f"{_summary(foreign)}. Run the version that it belongs to, or give this one an empty database and move "
            "the links with an export and an import."
        )


def _summary(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def schema_problem() -> str | None:
    """Why this version must not use the database. A database may have the migrations of later versions, too."""
    applied = applied_migrations()
    if known_migrations() - applied.keys():
        return "migrations are missing"
    if foreign_migrations(applied):
        return "its migrations are not those of this version"
    return None


def is_incomplete() -> bool:
    """Whether a migration has to run, or was interrupted."""
    return bool(missing_migrations() or missing_permissions())


def missing_migrations() -> frozenset[Name]:
    """The migrations that the database lacks, also those of libraries."""
    return known_migrations() - applied_migrations().keys()


def missing_permissions() -> frozenset[tuple[str, str, str]]:
    """The app, the model and the name of each permission that the database lacks. It must have all migrations.

    Django adds permissions after the last migration, so a start that was interrupted there lacks some.
    """
    existing = apps.get_model("auth", "Permission").objects.values_list(
        "content_type__app_label", "content_type__model", "codename"
    )
    return frozenset(
        (model._meta.app_label, str(model._meta.model_name), codename)
        for model in apps.get_models()
        for codename in (
            *(get_permission_codename(action, model._meta) for action in model._meta.default_permissions),
            *(codename for codename, _ in model._meta.permissions),
        )
    ).difference(existing)


@cache
def known_migrations() -> frozenset[Name]:
    """Return the names of the migrations of all apps."""
    return frozenset((app.label, name) for app in apps.get_app_configs() for name in _names(app.label))


def _names(app: str) -> list[str]:
    """The modules that Django takes for migrations."""
    package, _ = MigrationLoader.migrations_module(app)
    spec = find_spec(package) if package else None
    folders = spec.submodule_search_locations if spec else None
    return [
        name
        for _, name, is_package in pkgutil.iter_modules(folders or [])
        if not is_package and name[0] not in "_~"
    ]
