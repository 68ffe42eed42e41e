"""What a start does with a database that an earlier one has prepared."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from testing.polling import DEADLINE
from testing.service.running import REPOSITORY

# Prints whether the migrations were loaded in this process.
PREPARE = """
import sys, django
django.setup()
from functools import partial
from shortener_project.running.migrating import migrate_in_fork
from shortener_project.running.preparation import prepare_database
fork = partial(migrate_in_fork, lambda: None)
prepare_database(run_migrations={"fork": fork, "interrupted": lambda: None, "none": None}[sys.argv[1]])
print("links.migrations.0001_initial" in sys.modules)
"""
PERMISSIONS = """
    SELECT app_label, model, codename
    FROM auth_permission JOIN django_content_type type ON type.id = content_type_id ORDER BY 1, 2, 3
"""

MIGRATIONS = "SELECT app, name FROM django_migrations ORDER BY 1, 2"


def prepare(url: str, var_dir: Path, run_migrations: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PREPARE, run_migrations],
        cwd=REPOSITORY,
        env={
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
            "DATABASE_URL": url,
            "SECRET_KEY": "only-for-this-test-" + "abcdefgh" * 6,
            "VAR_DIR": str(var_dir),
        },
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("run_migrations", ["none", "interrupted"])
def test_only_the_first_start_loads_the_migrations(
    run_migrations: str, make_empty_database: Callable[[], str], tmp_path: Path
) -> None:
    url = make_empty_database()
    assert [prepare(url, tmp_path, run_migrations) for _ in range(2)] == ["True\n", "False\n"]


def test_the_migrations_of_the_first_start_run_in_a_process_that_ends(
    make_empty_database: Callable[[], str], make_database: Callable[[], str], tmp_path: Path
) -> None:
    """Their memory would stay in all processes of the service."""
    url = make_empty_database()

    assert prepare(url, tmp_path, "fork") == "False\n"

    with psycopg.connect(url) as database, psycopg.connect(make_database()) as usual:
        assert database.execute(PERMISSIONS).fetchall() == usual.execute(PERMISSIONS).fetchall()
        assert database.execute(MIGRATIONS).fetchall() == usual.execute(MIGRATIONS).fetchall()


def test_a_start_finishes_an_interrupted_migration(make_database: Callable[[], str], tmp_path: Path) -> None:
    """Django creates the permissions of the admin after the last migration."""
    url = make_database()
    with psycopg.connect(url, autocommit=True) as database:
        complete = database.execute(PERMISSIONS).fetchall()
        database.execute("DELETE FROM auth_permission WHERE codename = ANY ('{add_domain,view_domain}')")
        assert len(database.execute(PERMISSIONS).fetchall()) == len(complete) - 2

        assert prepare(url, tmp_path, "none") == "True\n"

        assert database.execute(PERMISSIONS).fetchall() == complete
