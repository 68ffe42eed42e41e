"""Databases on the tests' server, empty or migrated.

All migrated databases are copies of one template, which is made from the recorded schema: a copy takes a fraction of
the time of the migrations. As a program, this module makes the template on the server of DATABASE_URL.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import subprocess
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from local_postgres.binaries import find_binaries
from shortener_project.recorded_schema import SCHEMA
from shortener_project.recorded_schema.recording import sources_digest

# An arbitrary advisory lock id. The workers of pytest-xdist share the server, and one of them makes the template.
_TEMPLATE_LOCK = 2_906_114_873


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
    """Make the template, unless it exists. A server that outlives the tests keeps it, and those of former schemas."""
    schema = _recorded_schema()
    name = f"service_template_{hashlib.sha256(schema.encode()).hexdigest()[:12]}"
    # PostgreSQL releases the lock with the connection.
    connection.execute("SELECT pg_advisory_lock(%s)", [_TEMPLATE_LOCK])
    if connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
        draft = f"{name}_draft"
        quoted = {"draft": sql.Identifier(draft), "name": sql.Identifier(name)}
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {draft} WITH (FORCE)").format(**quoted))
        connection.execute(sql.SQL("CREATE DATABASE {draft}").format(**quoted))
        with psycopg.connect(_url(server, draft)) as database:
            database.execute(schema, prepare=False)
        connection.execute(sql.SQL("ALTER DATABASE {draft} RENAME TO {name}").format(**quoted))
    return name


@cache
def _recorded_schema() -> str:
    """Raises RuntimeError if it is older than a migration."""
    schema = SCHEMA.read_text()
    if sources_digest() not in schema.partition("\n")[0]:
        raise RuntimeError("The recorded schema is not that of the migrations: run `make schema`.")
    return schema


def _url(server: str, name: str) -> str:
    return urlsplit(server)._replace(path=f"/{name}").geturl()


if __name__ == "__main__":
    template_on(os.environ["DATABASE_URL"])
