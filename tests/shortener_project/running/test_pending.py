"""What the database lacks, compared with what Django itself finds."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from shortener_project.running.pending import known_migrations, missing_migrations, missing_permissions


def test_the_known_migrations_are_those_of_django() -> None:
    assert known_migrations() == frozenset(MigrationLoader(None).graph.nodes)


@pytest.mark.django_db
def test_a_prepared_database_lacks_nothing() -> None:
    assert (missing_migrations(), missing_permissions()) == (frozenset(), frozenset())


@pytest.mark.django_db
def test_a_migration_that_is_not_recorded_is_missing() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE (app, name) = ('sessions', '0001_initial')")
    assert missing_migrations() == {("sessions", "0001_initial")}


@pytest.mark.django_db
def test_a_permission_that_was_not_created_is_missing() -> None:
    Permission.objects.get(codename="change_ban").delete()
    assert missing_permissions() == {("bans", "ban", "change_ban")}


@pytest.mark.django_db
def test_all_permissions_of_a_model_without_content_type_are_missing() -> None:
    ContentType.objects.get(app_label="domains", model="domain").delete()
    assert missing_permissions() == {
        ("domains", "domain", f"{action}_domain") for action in ("add", "change", "delete", "view")
    }
