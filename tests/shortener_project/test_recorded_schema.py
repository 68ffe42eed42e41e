"""Which databases get the recorded schema."""

from __future__ import annotations

import pytest
from django.db import connection

from shortener_project.recorded_schema.installing import install_if_empty

TABLES = "SELECT tablename::text FROM pg_tables WHERE schemaname = %s ORDER BY 1"


@pytest.mark.parametrize(
    ("existing", "is_installed"),
    [("CREATE VIEW existing AS SELECT 1", True), ("CREATE TABLE existing ()", False)],
)
@pytest.mark.django_db
def test_a_schema_without_tables_gets_the_recorded_ones(existing: str, is_installed: bool) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA another")
        cursor.execute("SET LOCAL search_path = another")
        cursor.execute(existing)

        install_if_empty(cursor)

        tables = {}
        for schema in ("public", "another"):
            cursor.execute(TABLES, [schema])
            tables[schema] = cursor.fetchall()
    assert tables["another"] == (tables["public"] if is_installed else [("existing",)])
