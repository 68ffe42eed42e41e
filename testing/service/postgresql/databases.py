"""Databases on the tests' server, empty or migrated.

All migrated databases are copies of one template, which takes a fraction of the time of the migrations. pytest's cache
keeps what the migrations made, so that only the first run after a change migrates. As a program, this module makes the
template on the server of DATABASE_URL.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import subprocess
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from local_postgres.binaries import find_binaries
from shortener_project.running.schema import own_digests

REPOSITORY = Path(__file__).parents[3]
# An arbitrary advisory lock id. The workers of pytest-xdist share the server, and one of them makes the template.
_TEMPLATE_LOCK = 2_906_114_873
_DUMPS = REPOSITORY / ".pytest_cache/databases"
# Of so many branches. Each is a few hundred kilobytes.
_KEPT_DUMPS = 5
# The list of apps is in the settings, and these have migrations or make the statements.
_SETTINGS = REPOSITORY / "shortener_project/settings.py"
_LIBRARIES = ("django", "django-allauth")


def run_program(program: str, *arguments: str | Path) -> None:
    """Run a program of PostgreSQL, such as ``pg_dump``, of the server's own version."""
    subprocess.run([find_binaries().folder / program, *arguments], check=True)


def create_database(server: str, *, migrated: bool) -> str:
    """Create a database with a random name and return its URL.

    With the URL of a migrated database, services wait for a connection for a minute instead of two seconds: on a busy
    machine, they would refuse requests otherwise.
    """
    name = f"service_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        template = _template(connection, server) if migrated else "template1"
        # Without a copy in the log, which takes twice the processor time.
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
    url = _url(server, name)
    return f"{url}{'&' if urlsplit(url).query else '?'}connect_timeout=60" if migrated else url


def drop_database(server: str, url: str) -> None:
    name = sql.Identifier(urlsplit(url).path[1:])
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def template_on(server: str) -> str:
    """The name of the template."""
    with psycopg.connect(server, autocommit=True) as connection:
        return _template(connection, server)


def migrate(url: str, code: Path = REPOSITORY) -> None:
    """Run all migrations of the code in this folder."""
    with tempfile.TemporaryDirectory() as var_dir:
        environment = {"DATABASE_URL": url, "SECRET_KEY": secrets.token_urlsafe(50), "VAR_DIR": var_dir}
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
            cwd=code,
            env={"PATH": os.environ["PATH"], **environment},
            check=True,
        )


def _template(connection: psycopg.Connection, server: str) -> str:
    """Make the template, unless it exists. A server that outlives the tests keeps it, and those of former schemas."""
    # What pg_dump writes depends on its version.
    digest = f"{_schema_digest()}_{connection.info.server_version}"
    name = f"service_template_{digest}"
    # PostgreSQL releases the lock with the connection.
    connection.execute("SELECT pg_advisory_lock(%s)", [_TEMPLATE_LOCK])
    if connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
        draft = f"{name}_draft"
        _recreate(connection, draft)
        _fill(connection, server, draft, _DUMPS / f"{digest}.dump")
        connection.execute(
            sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(draft), sql.Identifier(name))
        )
    return name


def _fill(connection: psycopg.Connection, server: str, draft: str, dump: Path) -> None:
    """Restore the dump, and make it first if no run of this checkout has. All templates are restored ones."""
    url = _url(server, draft)
    if not dump.exists():
        migrate(url)
        # Other runs of this checkout may do the same at the same time, on servers of their own.
        made = dump.with_suffix(f".{secrets.token_hex(6)}")
        dump.parent.mkdir(parents=True, exist_ok=True)
        run_program("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={made}", url)
        made.replace(dump)
        for old in sorted(dump.parent.iterdir(), key=_last_use)[:-_KEPT_DUMPS]:
            old.unlink(missing_ok=True)
        _recreate(connection, draft)
    dump.touch()
    run_program(
        "pg_restore", "--exit-on-error", "--single-transaction", "--no-owner", f"--dbname={url}", dump
    )


def _last_use(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:  # Another run has deleted it.
        return 0


def _recreate(connection: psycopg.Connection, name: str) -> None:
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


@cache
def _schema_digest() -> str:
    """A digest of what the migrated schema depends on."""
    digest = hashlib.sha256(_SETTINGS.read_bytes())
    digest.update(repr([version(library) for library in _LIBRARIES]).encode())
    digest.update(repr(sorted(own_digests().items())).encode())
    return digest.hexdigest()[:12]


def _url(server: str, name: str) -> str:
    return urlsplit(server)._replace(path=f"/{name}").geturl()


if __name__ == "__main__":
    template_on(os.environ["DATABASE_URL"])
