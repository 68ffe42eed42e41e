"""The migrations match the models, and contain every SQL file."""

from __future__ import annotations

import re
import subprocess
from functools import partial
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from testing import releases

REPOSITORY = Path(__file__).parents[2]


def test_every_change_of_a_model_has_a_migration(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("makemigrations", check=True, dry_run=True)
    assert capsys.readouterr().out == "No changes detected\n"


def test_every_sql_file_is_part_of_one_migration() -> None:
    for file in REPOSITORY.glob("*/migrations/sql/*"):
        migrations = [
            path.name
            for path in file.parents[1].glob("*.py")
            if re.search(rf"'{file.name}'", path.read_text())
        ]
        assert len(migrations) == 1, file


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
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n")
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


@pytest.mark.django_db
def test_deletion_of_an_account_runs_no_trigger_for_its_history() -> None:
    """The history is deleted with the workspace."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'accounts_delete_history'"
        )
        assert cursor.fetchall() == [("accounts_workspace",)]
