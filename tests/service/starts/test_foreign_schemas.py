"""A start on a database that other migrations of the same names have made."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from testing.service.hosts import SECRET_KEY
from testing.service.running import Service, eventually
from tests.service.starts.refusals import refusal

pytestmark = pytest.mark.slow

CHANGE = "UPDATE django_migrations SET digest = 'former' WHERE (app, name) = ('analytics', '0001_initial')"
SENTENCE = (
    "CommandError: The database has the schema of another version: it was migrated by another text of"
    " analytics.0001_initial. Run the version that it belongs to, or give this one an empty database and move the"
    " links with an export and an import."
)


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


def execute(url: str, statement: str) -> None:
    with psycopg.connect(url) as database:
        database.execute(statement)
