"""What `testing.schema_changes` finds, and that this version's migrations have none of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from common.database import execute, fetch
from testing import releases
from testing.schema_changes import problems, read_schema, words_of
from testing.service.fixtures import databases
from testing.service.postgresql.databases import migrate

pytestmark = pytest.mark.django_db

make_empty_database = pytest.fixture(lambda: (yield from databases(migrated=False)))
# The tests change no code, and reading all of it takes longer than the rest of each.
words_of_code = cache(words_of)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("ALTER TABLE links_link ADD new text", []),
        ("ALTER TABLE links_link ADD new text NOT NULL DEFAULT ''", []),
        ("ALTER TABLE links_link ADD new integer CHECK (new > 0) UNIQUE", []),
        ("ALTER TABLE links_link ALTER title DROP NOT NULL", []),
        ("CREATE TABLE new (id bigint PRIMARY KEY, link_id bigint NOT NULL REFERENCES links_link)", []),
        ("ALTER TABLE links_link ADD unused text; ALTER TABLE links_link DROP unused", []),
        (
            "ALTER TABLE links_link ADD new text NOT NULL",
            ["links_link.new is new and NOT NULL, without a default of the database"],
        ),
        (
            "ALTER TABLE links_link RENAME title TO heading",
            ["links_link.title is removed, and the previous release uses it"],
        ),
        ("ALTER TABLE links_link ALTER title SET NOT NULL", ["links_link.title becomes NOT NULL"]),
        (
            "ALTER TABLE links_utmtemplate ALTER name TYPE varchar(5)",
            ["links_utmtemplate.name changes its type from {name} to character varying(5)"],
        ),
        (
            "ALTER TABLE links_link ADD CONSTRAINT titled CHECK (title <> '')",
            ["titled restricts what the previous release may write to links_link"],
        ),
        (
            "CREATE UNIQUE INDEX one_title ON links_link (title)",
            ["one_title restricts what the previous release may write to links_link"],
        ),
        (
            "ALTER FUNCTION links_is_banned RENAME TO links_banned",
            ["links_is_banned is removed, and the previous release uses it"],
        ),
    ],
)
def test_changes_that_the_previous_release_cannot_run_on_are_found(statement: str, found: list[str]) -> None:
    before = read_schema(fetch)
    with connection.cursor() as cursor:
        cursor.execute(statement)
    types = {
        name.partition(".")[2]: column.type
        for name, column in before.columns.items()
        if "utmtemplate" in name
    }
    words = words_of_code(releases.REPOSITORY)
    assert problems(before, read_schema(fetch), words.__contains__) == [
        text.format(**types) for text in found
    ]


def test_a_removed_column_that_nobody_uses_any_more_is_no_problem() -> None:
    """It is what a release may remove, after one that ignored it."""
    before = read_schema(fetch)
    execute("ALTER TABLE links_link DROP COLUMN title CASCADE")
    assert problems(before, read_schema(fetch), {"url"}.__contains__) == []


@pytest.mark.slow
def test_the_last_release_runs_on_the_schema_of_this_version(
    tmp_path: Path, make_empty_database: Callable[[], str]
) -> None:
    """Before the first release, the last commit takes its place."""
    url = make_empty_database()
    former = releases.code_of(releases.last_tag() or "HEAD", tmp_path / "former")
    migrate(url, former)
    with psycopg.connect(url, autocommit=True) as database:
        before = read_schema(lambda query: database.execute(query).fetchall())
        migrate(url)
        after = read_schema(lambda query: database.execute(query).fetchall())
    assert problems(before, after, words_of(former).__contains__) == []
