"""Databases on the tests' server, empty or migrated.

All migrated databases are copies of one template: a copy takes a fraction of the time of the migrations. As a program,
this module makes the template on the server of DATABASE_URL.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import subprocess
import sys
import tempfile
from functools import cache
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from testing.service.running import REPOSITORY

# An arbitrary advisory lock id. The workers of pytest-xdist share the server, and one of them makes the template.
_TEMPLATE_LOCK = 2_906_114_873


def create_database(server: str, *, migrated: bool) -> str:
    """Create a database with a random name and return its URL.

    With the URL of a migrated database, services wait for a connection for a minute instead of two seconds: on a busy
    machine, they would refuse requests otherwise.
    """
    name = f"service_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        template = _template(connection, server) if migrated else "template1"
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
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


def _template(connection: psycopg.Connection, server: str) -> str:
    """Make the template, unless it exists. A server that outlives the tests keeps it until the migrations change."""
    name = f"service_template_{_migrations_digest()}"
    # PostgreSQL releases the lock with the connection.
    connection.execute("SELECT pg_advisory_lock(%s)", [_TEMPLATE_LOCK])
    if connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
        draft = f"{name}_draft"
        quoted = {"draft": sql.Identifier(draft), "name": sql.Identifier(name)}
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {draft} WITH (FORCE)").format(**quoted))
        connection.execute(sql.SQL("CREATE DATABASE {draft}").format(**quoted))
        _migrate(_url(server, draft))
        connection.execute(sql.SQL("ALTER DATABASE {draft} RENAME TO {name}").format(**quoted))
    return name


def _migrate(url: str) -> None:
    with tempfile.TemporaryDirectory() as var_dir:
        environment = {"DATABASE_URL": url, "SECRET_KEY": secrets.token_urlsafe(50), "VAR_DIR": var_dir}
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
            cwd=REPOSITORY,
            env={"PATH": os.environ["PATH"], **environment},
            check=True,
        )


@cache
def _migrations_digest() -> str:
    digest = hashlib.sha256()
    modules, statements = REPOSITORY.glob("*/migrations/*.py"), REPOSITORY.glob("*/migrations/sql/*.sql")
    # Migrations of several apps share the SQL of this module.
    shared = REPOSITORY / "accounts/workspaces/owner_columns.py"
    for source in sorted([*modules, *statements, shared]):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def _url(server: str, name: str) -> str:
    return urlsplit(server)._replace(path=f"/{name}").geturl()


if __name__ == "__main__":
    template_on(os.environ["DATABASE_URL"])
