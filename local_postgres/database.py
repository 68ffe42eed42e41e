"""Database creation with psql: this package must not depend on a driver."""

import subprocess

from .account import minimal_environment
from .binaries import find_binaries
from .errors import EmbeddedPostgresError
from .initdb import ROLE
from .layout import Layout

SCRIPT = r"""
SELECT format('CREATE DATABASE %I', :'database')
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
"""


def create_database(layout: Layout, name: str) -> None:
    """Create the database unless it exists. Requires a running server and the start/stop lock."""
    result = subprocess.run(
        [
            find_binaries().folder / "psql",
            *("--no-psqlrc", "--no-password", "--quiet", "--set=ON_ERROR_STOP=1", f"--set=database={name}"),
            *(f"--host={layout.client_socket_dir}", "--port=5432", f"--username={ROLE}", "postgres"),
        ],
        input=SCRIPT,
        env=minimal_environment() | {"PGPASSWORD": layout.password()},
        capture_output=True,
        text=True,
        errors="replace",
        start_new_session=True,
        check=False,
    )
    if result.returncode != 0:
        reason = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise EmbeddedPostgresError(f"PostgreSQL did not create the database {name}: {reason}")
