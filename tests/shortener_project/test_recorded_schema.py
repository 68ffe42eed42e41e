"""Which databases get the recorded schema, and which server records it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from local_postgres.binaries import PROGRAMS
from shortener_project.recorded_schema.installing import install_if_empty

TABLES = "SELECT tablename::text FROM pg_tables WHERE schemaname = %s ORDER BY 1"


VIEW, TABLE = "CREATE VIEW existing AS SELECT 1", "CREATE TABLE existing ()"


@pytest.mark.parametrize(
    ("schema", "search_path", "existing", "is_installed"),
    [
        ("another", "{}", VIEW, True),
        ("another", "{}", TABLE, False),
        ("An-other", "{}", VIEW, True),
        ("An-other", "{}", TABLE, False),
        pytest.param("another", "{}, public", VIEW, False, id="public has the service's tables"),
    ],
)
@pytest.mark.django_db
def test_a_schema_without_tables_gets_the_recorded_ones(
    schema: str, search_path: str, existing: str, is_installed: bool
) -> None:
    quoted = f'"{schema}"'
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE SCHEMA {quoted}")
        cursor.execute(f"SET LOCAL search_path = {search_path.format(quoted)}")
        cursor.execute(existing)

        install_if_empty(cursor)

        tables = {}
        for name in ("public", schema):
            cursor.execute(TABLES, [name])
            tables[name] = cursor.fetchall()
    before = [("existing",)] if existing == TABLE else []
    assert tables[schema] == (tables["public"] if is_installed else before)


def test_another_server_than_the_embedded_one_does_not_record_the_schema(tmp_path: Path) -> None:
    for program in PROGRAMS:
        script = tmp_path / program
        script.write_text(f"#!/bin/sh\necho '{program} (PostgreSQL) 16.2'\n")
        script.chmod(0o755)
    # Without `site`, Python does not find the wheel.
    done = subprocess.run(
        [sys.executable, "-S", "-m", "shortener_project.recorded_schema.recording"],
        env={"PATH": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        1,
        "Only the embedded PostgreSQL records the schema. Install requirements-embedded.txt.\n",
    )
