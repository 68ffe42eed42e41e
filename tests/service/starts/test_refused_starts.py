"""A start that is refused says why in one line."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import psycopg
import pytest

from testing.service.hosts import SECRET_KEY
from testing.service.postgresql.fake_postgres import fake_postgres
from testing.service.running import DEADLINE, Service
from tests.service.starts.refusals import refusal

pytestmark = pytest.mark.slow


def test_port_conflict_is_reported_in_one_line_and_stops_the_database(
    service: Service, make_service: Callable[..., Service]
) -> None:
    late = make_service(port=service.port)
    address = f"127.0.0.1:{service.port}"
    assert refusal(late) == f"CommandError: Cannot listen on {address}: Address already in use."
    assert (late.var_dir / "postgres" / "data").exists()
    assert late.processes() == []


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        (
            {"DATABASE_URL": "postgres://user:password@127.0.0.1:1/name"},
            "error: DATABASE_URL is set, so SECRET_KEY must be set too "
            "(50 random characters, the same on every host).",
        ),
        (
            {"DATABASE_URL": "mysql://user:password@127.0.0.1/name", "SECRET_KEY": SECRET_KEY},
            "error: DATABASE_URL must name a PostgreSQL database: postgres://…",
        ),
        (
            {"BASE_URL": "go.example.com"},
            "error: BASE_URL must look like https://go.example.com, not 'go.example.com'.",
        ),
        ({"PORT": "65536"}, "error: PORT must be a whole number from 1 to 65535, not '65536'."),
        (
            {"WEB_CONCURRENCY": "many"},
            "error: WEB_CONCURRENCY must be a whole number from 1 to 256, not 'many'.",
        ),
    ],
)
def test_invalid_environment_is_reported_in_one_line(
    make_service: Callable[..., Service], environment: dict[str, str], line: str
) -> None:
    service = make_service(**environment)
    assert refusal(service) == line
    assert service.processes() == []


def test_wrong_database_password_is_reported_in_one_line(
    make_service: Callable[..., Service], make_empty_database: Callable[[], str]
) -> None:
    url = urlsplit(make_empty_database())
    assert url.hostname is not None
    netloc = f"{url.username}:wrong@{url.netloc.rpartition('@')[2]}"
    wrong = url._replace(netloc=netloc).geturl()
    try:
        psycopg.connect(wrong).close()
    except psycopg.OperationalError:
        pass
    else:
        pytest.skip("NOT TESTED: the server of the tests trusts everybody, whatever the password.")
    line = refusal(make_service(DATABASE_URL=wrong, SECRET_KEY=SECRET_KEY))
    assert line.startswith("CommandError: The database cannot be used: ")
    assert line.endswith(f'password authentication failed for user "{url.username}"')


@pytest.mark.parametrize("version", ["14.9", "13.22"])
def test_old_postgresql_is_reported_in_one_line(make_service: Callable[..., Service], version: str) -> None:
    with fake_postgres(version) as port:
        # By default, a service waits two seconds for a connection, and then tries again.
        url = f"postgres://user@127.0.0.1:{port}/name?connect_timeout={DEADLINE}"
        line = refusal(make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY))
    reason = f"PostgreSQL 15 or later is required (found {version})."
    assert line == f"CommandError: The database cannot be used: {reason}"
