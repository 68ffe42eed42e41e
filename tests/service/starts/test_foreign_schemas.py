"""A start on a database that other migrations of the same names have made, or that has no digests."""

from __future__ import annotations

from collections.abc import Callable

import psycopg

from shortener_project.recorded_schema.applied import other_schema
from shortener_project.recorded_schema.digests import own_digests
from shortener_project.recorded_schema.recording import migrate
from testing.service.hosts import SECRET_KEY
from testing.service.running import Service, eventually
from tests.service.starts.refusals import refusal

CHANGE = "UPDATE django_migrations SET digest = 'former' WHERE (app, name) = ('analytics', '0001_initial')"
SENTENCE = f"CommandError: {other_schema('it was migrated by another text of analytics.0001_initial')}"
DIGESTS = "SELECT app, name, digest FROM django_migrations WHERE digest IS NOT NULL"


def test_a_database_of_other_migrations_is_refused_in_one_line(
    make_database: Callable[[], str], make_service: Callable[..., Service]
) -> None:
    url = make_database()
    execute(url, CHANGE)
    service = make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY)
    assert refusal(service) == SENTENCE
    done = service.manage("migrate")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, SENTENCE)


def test_a_service_says_that_its_database_belongs_to_another_version(
    make_database: Callable[[], str], make_service: Callable[..., Service]
) -> None:
    url = make_database()
    service = make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY)
    service.start()
    eventually(service.is_ready)
    execute(url, CHANGE)
    response = service.call_internal("/readyz")
    assert response.status == 503
    assert response.json()["migrations"] == "its migrations are not those of this version"
    assert service.call("GET", "/readyz").json() == {"status": "unavailable"}


def test_a_database_without_digests_that_has_the_schema_gets_them(
    make_empty_database: Callable[[], str], make_service: Callable[..., Service]
) -> None:
    """The migrations made it, so PostgreSQL writes some conditions in another way than in the recorded schema."""
    url = make_empty_database()
    migrate(url)
    execute(url, "ALTER TABLE django_migrations DROP COLUMN digest")
    service = make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY)
    service.start()
    eventually(service.is_ready)
    with psycopg.connect(url) as database:
        assert {(app, name): digest for app, name, digest in database.execute(DIGESTS)} == own_digests()
        assert database.execute(
            "SELECT count(*) FROM pg_namespace WHERE nspname ^@ 'recorded_'"
        ).fetchone() == (0,)


def test_a_database_without_digests_that_has_another_schema_is_refused(
    make_database: Callable[[], str], make_service: Callable[..., Service]
) -> None:
    url = make_database()
    execute(url, "ALTER TABLE django_migrations DROP COLUMN digest")
    execute(url, "ALTER TABLE analytics_monthcount RENAME TO former")
    line = refusal(make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY))
    assert line.startswith(
        "CommandError: The database has the schema of another version: it lacks or differs in "
    )


def execute(url: str, statement: str) -> None:
    with psycopg.connect(url) as database:
        database.execute(statement)
