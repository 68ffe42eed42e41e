"""What a start does with an empty database, and with one that an earlier start has prepared."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from testing.polling import DEADLINE, eventually
from testing.service.running import REPOSITORY

pytestmark = pytest.mark.slow

# Prints whether the migrations were loaded in this process.
PREPARE = """
import sys, django
django.setup()
from functools import partial
from shortener_project.running.preparation import migrate_in_fork
from shortener_project.running.preparation import prepare_database
fork = partial(migrate_in_fork, lambda: None)
prepare_database(run_migrations={"fork": fork, "interrupted": lambda: None, "none": None}[sys.argv[1]])
print("links.migrations.0001_initial" in sys.modules)
"""
PERMISSIONS = """
    SELECT app_label, model, codename
    FROM auth_permission JOIN django_content_type type ON type.id = content_type_id ORDER BY 1, 2, 3
"""
OTHER_SESSIONS = (
    "SELECT wait_event_type FROM pg_stat_activity WHERE datname = current_database() AND pid <> ALL (%s)"
)
TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"


def start(url: str, var_dir: Path, run_migrations: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PREPARE, run_migrations],
        cwd=REPOSITORY,
        env={
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
            "DATABASE_URL": url,
            "SECRET_KEY": "only-for-this-test-" + "abcdefgh" * 6,
            "VAR_DIR": str(var_dir),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def prepare(url: str, var_dir: Path, run_migrations: str) -> str:
    with start(url, var_dir, run_migrations) as process:
        output, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, errors
    return output


def test_a_start_on_an_empty_database_loads_migrations_only_in_the_fork(
    make_empty_database: Callable[[], str], make_database: Callable[[], str], tmp_path: Path
) -> None:
    url = make_empty_database()

    assert prepare(url, tmp_path, "fork") == "False\n"

    with psycopg.connect(url) as database, psycopg.connect(make_database()) as usual:
        assert database.execute(TABLES).fetchone() == usual.execute(TABLES).fetchone()
        assert database.execute("SELECT email FROM accounts_user").fetchall() == [("owner@localhost",)]


def test_a_first_start_that_was_killed_is_finished_by_the_next(
    make_empty_database: Callable[[], str], tmp_path: Path
) -> None:
    url = make_empty_database()
    with psycopg.connect(url) as holder, psycopg.connect(url, autocommit=True) as observer:
        ours = [[holder.info.backend_pid, observer.info.backend_pid]]
        # The migration that creates this table as well waits for the end of the transaction.
        holder.execute("CREATE TABLE qrcodes_qrcode ()")
        with start(url, tmp_path, "fork") as killed:
            eventually(lambda: observer.execute(OTHER_SESSIONS, ours).fetchall() == [("Lock",)])
            killed.kill()
        holder.rollback()
        eventually(lambda: observer.execute(OTHER_SESSIONS, ours).fetchall() == [])
        assert prepare(url, tmp_path, "fork") == "False\n"

        assert observer.execute("SELECT count(*) FROM accounts_user").fetchone() == (1,)


@pytest.mark.parametrize(
    ("run_migrations", "loaded"), [("none", True), ("interrupted", True), ("fork", False)]
)
def test_a_start_finishes_interrupted_migrations_once(
    run_migrations: str,
    loaded: bool,
    make_unfinished_database: Callable[[], str],
    make_database: Callable[[], str],
    tmp_path: Path,
) -> None:
    """Django creates the permissions of the admin after the last migration. A fork keeps the memory that the
    migrations take out of the service.
    """
    url = make_unfinished_database()
    with psycopg.connect(url, autocommit=True) as database, psycopg.connect(make_database()) as usual:
        complete = usual.execute(PERMISSIONS).fetchall()
        assert len(database.execute(PERMISSIONS).fetchall()) == len(complete) - 2

        assert [prepare(url, tmp_path, run_migrations) for _ in range(2)] == [f"{loaded}\n", "False\n"]

        assert database.execute(PERMISSIONS).fetchall() == complete
