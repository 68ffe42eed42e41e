"""Runs PostgreSQL's client programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from django.core.management.base import CommandError
from django.db import connection
from psycopg.conninfo import make_conninfo

from local_postgres import EmbeddedPostgresError
from local_postgres.binaries import find_binaries
from shortener_project.running.preparation import connection_parameters


def connection_arguments() -> list[str]:
    """Options that connect a program to the service's database. `run_program` adds the password."""
    connection.ensure_connection()
    info = connection.connection.info
    # Of several servers the one that this host uses. The programs would also take a former primary.
    parameters = connection_parameters() | {"host": info.host, "port": str(info.port)}
    parameters.pop("password", None)
    return [f"--dbname={make_conninfo(**parameters)}", "--no-password"]


def run_program(name: str, *arguments: str | Path) -> None:
    """Raises CommandError with the program's first line of errors.

    The password is in the environment and not in the command line, which other users can read.
    """
    password = str(connection_parameters().get("password", ""))
    done = subprocess.run(
        [_path(name), *arguments],
        env=os.environ | ({"PGPASSWORD": password} if password else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CommandError((done.stderr.strip() or f"{name} exited with {done.returncode}").splitlines()[0])


def _path(name: str) -> str:
    try:
        path = find_binaries().folder / name
        if path.exists():
            return str(path)
    except EmbeddedPostgresError:
        pass  # A host with a database elsewhere may have the client programs only.
    if installed := shutil.which(name):
        return installed
    raise CommandError(f"{name} was not found: install PostgreSQL's client programs.")
