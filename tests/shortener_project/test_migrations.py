"""The migrations match the models, and contain every SQL file."""

from __future__ import annotations

import subprocess
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from links.models import Link
from testing import releases

REPOSITORY = Path(__file__).parents[2]


def test_every_change_of_a_model_has_a_migration(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("makemigrations", check=True, dry_run=True)
    assert capsys.readouterr().out == "No changes detected\n"


def test_every_sql_file_is_part_of_a_migration() -> None:
    migration = import_module("links.migrations.0002_functions_and_triggers")
    migrations = REPOSITORY / "links/migrations"
    files = {path.name for path in (migrations / "sql").iterdir()}
    later = {name for name in files if not name.startswith("0002_")}
    assert files - later == {f"0002_{subject}.sql" for subject in migration.SUBJECTS}
    assert later == {name for name in later if name in (migrations / name).with_suffix(".py").read_text()}


def test_released_migrations_have_not_changed() -> None:
    """Before the first release, `make freeze` records changed ones. From then on, add a migration instead."""
    frozen = releases.frozen_digests((REPOSITORY / releases.FROZEN).read_text())
    assert releases.changed(frozen, releases.current_digests()) == []
    assert releases.changed(releases.released_digests(), frozen) == []


def test_a_released_migration_cannot_be_frozen_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=test", "-c", "user.email=test@example.com")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    file = tmp_path / releases.FROZEN
    file.parent.mkdir(parents=True)
    monkeypatch.setattr(releases, "REPOSITORY", tmp_path)
    git("init")
    file.write_text("links.0001_initial former\n")
    git("add", ".")
    git("commit", "--message", "Release")
    monkeypatch.setattr(releases, "released_digests", partial(releases.released_digests, tmp_path))
    releases.main()
    assert releases.frozen_digests(file.read_text()) == releases.current_digests()

    git("tag", "v1.0.0")
    written = file.read_text()
    with pytest.raises(
        SystemExit, match=r"^Add a migration instead of changing a released one: links\.0001_initial"
    ):
        releases.main()
    assert file.read_text() == written


@pytest.mark.django_db(transaction=True)
def test_the_migrations_of_links_are_reversible() -> None:
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    try:
        MigrationExecutor(connection).migrate([("links", None)])
        assert _objects_of_links() == set()
    finally:
        MigrationExecutor(connection).migrate(newest)
    assert {"links_link", "links_searchable", "links_is_banned", "links_search"} <= _objects_of_links()
    assert not Link.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_interrupted_migrations_can_run_again() -> None:
    """A migration without a transaction that stopped before its last step has changed tables, but is not recorded."""
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph
    interrupted = [key for key, migration in graph.nodes.items() if not migration.atomic]
    indexes = {"link_creator", "link_key"}
    assert {app for app, _ in interrupted} == {"bans", "domains", "links", "qrcodes"}
    with connection.cursor() as cursor:
        # As an interrupted CREATE INDEX CONCURRENTLY leaves them.
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = ANY (%s::text[]::regclass[])",
            [sorted(indexes)],
        )
    for key in interrupted:
        executor.recorder.record_unapplied(*key)
    for key in interrupted:
        # It may have run as a dependency. Naming it again would reverse the later ones of its app.
        if key not in executor.recorder.applied_migrations():
            MigrationExecutor(connection).migrate([key])
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
            " WHERE i.indisvalid AND c.relname = ANY (%s)",
            [sorted(indexes)],
        )
        assert {name for (name,) in cursor.fetchall()} == indexes


@pytest.mark.django_db
def test_deletion_of_an_account_runs_no_trigger_for_its_history() -> None:
    """The history is deleted with the workspace, so that adding workspaces need not lock the accounts."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'accounts_delete_history'"
        )
        assert cursor.fetchall() == [("accounts_workspace",)]


def _objects_of_links() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname::text FROM pg_class WHERE relname ^@ 'links_'"
            " UNION SELECT proname::text FROM pg_proc WHERE proname ^@ 'links_'"
            " UNION SELECT tgname::text FROM pg_trigger WHERE tgname ^@ 'links_'"
        )
        return {name for (name,) in cursor.fetchall()}
