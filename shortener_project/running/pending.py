"""What a database lacks, found without loading the migrations, which would take time and memory in each process."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib.util import find_spec

from django.apps import apps
from django.contrib.auth import get_permission_codename
from django.contrib.auth.models import Permission
from django.db.migrations.loader import MigrationLoader

from shortener_project.recorded_schema.applied import (
    applied_migrations,
    foreign_migrations,
    unverified_migrations,
)


def is_incomplete() -> bool:
    """Whether a migration has to run, or was interrupted."""
    return bool(missing_migrations() or missing_permissions())


def missing_migrations() -> frozenset[tuple[str, str]]:
    """The app and the name of each."""
    return known_migrations() - applied_migrations().keys()


def schema_problem() -> str | None:
    """Why this version must not use the database. A database may have the migrations of later versions, too."""
    applied = applied_migrations()
    if known_migrations() - applied.keys():
        return "migrations are missing"
    if foreign_migrations(applied) or unverified_migrations(applied):
        return "its migrations are not those of this version"
    return None


def missing_permissions() -> frozenset[tuple[str, str, str]]:
    """The app, the model and the name of each. Django adds them after the last migration, so a start that was
    interrupted there lacks some. The database must have all migrations.
    """
    existing = Permission.objects.values_list("content_type__app_label", "content_type__model", "codename")
    return frozenset(
        (model._meta.app_label, str(model._meta.model_name), codename)
        for model in apps.get_models()
        for codename in (
            *(get_permission_codename(action, model._meta) for action in model._meta.default_permissions),
            *(codename for codename, _ in model._meta.permissions),
        )
    ).difference(existing)


@cache
def known_migrations() -> frozenset[tuple[str, str]]:
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
