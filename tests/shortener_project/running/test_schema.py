"""What the database lacks, compared with what Django itself finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from shortener_project.running.schema import (
    Name,
    applied_migrations,
    digests,
    foreign_migrations,
    known_migrations,
    missing_migrations,
    missing_permissions,
    own_digests,
    refuse_foreign_migrations,
    schema_problem,
)

REPOSITORY = Path(__file__).parents[3]
FOREIGN = "its migrations are not those of this version"


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


@pytest.mark.django_db
def test_a_prepared_database_has_the_schema_of_this_version() -> None:
    assert schema_problem() is None


@pytest.mark.django_db
def test_a_database_with_the_migrations_of_a_later_version_is_accepted() -> None:
    record("links", "9999_later", "another digest")
    record("laterapp", "0001_initial", "another digest")
    assert schema_problem() is None


@pytest.mark.django_db
def test_a_migration_with_another_text_is_foreign() -> None:
    execute("UPDATE django_migrations SET digest = 'x' WHERE (app, name) = ('analytics', '0001_initial')")
    assert (foreign(), schema_problem()) == (["analytics.0001_initial"], FOREIGN)


@pytest.mark.django_db
def test_a_migration_that_this_version_would_know_is_foreign() -> None:
    record("links", "0001_on_another_branch", "another digest")
    assert (foreign(), schema_problem()) == (["links.0001_on_another_branch"], FOREIGN)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    ["UPDATE django_migrations SET digest = NULL", "ALTER TABLE django_migrations DROP COLUMN digest"],
)
def test_a_database_without_digests_is_that_of_another_version(change: str) -> None:
    execute(change)
    assert schema_problem() == FOREIGN
    with pytest.raises(
        CommandError, match=r"another text of accounts\.0001_initial, .* and \d+ more\. Run the"
    ):
        refuse_foreign_migrations()


@pytest.mark.django_db
def test_applied_migrations_have_their_digests_at_once() -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("bans", "0001_initial")
    recorder.record_applied("bans", "0001_initial")
    assert applied_migrations()["bans", "0001_initial"] == own_digests()["bans", "0001_initial"]


def test_the_digest_of_a_migration_covers_its_sql_files(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for pattern in ("*/migrations/*.py", "*/migrations/sql/*.sql"):
        for file in REPOSITORY.glob(pattern):
            copy = project / file.relative_to(REPOSITORY)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    before = digests(project)
    assert before == own_digests()

    append(project / "links/migrations/sql/bans.sql")
    assert changed(before, digests(project)) == {("links", "0001_initial")}
    append(project / "accounts/migrations/sql/identities.sql")
    assert changed(before, digests(project)) == {("links", "0001_initial"), ("accounts", "0002_initial")}


def append(file: Path) -> None:
    file.write_text(file.read_text() + "\n")


def changed(before: dict[Name, str], after: dict[Name, str]) -> set[Name]:
    return {name for name in before if before[name] != after[name]}


def foreign() -> list[str]:
    return foreign_migrations(applied_migrations())


def record(app: str, name: str, digest: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied, digest) VALUES (%s, %s, now(), %s)",
            [app, name, digest],
        )


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
