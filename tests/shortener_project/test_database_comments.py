"""People can read the database with psql: tables and columns have comments, and numbers have names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.apps import apps
from django.conf import settings

from analytics.models import BusyDayCount, Click, Dimension, Kind, LifeCount, MonthCount
from testing.analytics.raw_clicks import store_clicks
from testing.connections import rows

pytestmark = pytest.mark.django_db

# Tables, also those that a migration creates with SQL. The comments of a partitioned table apply to its partitions.
COMMENTS = """
SELECT c.relname::text, a.attname::text, col_description(c.oid, a.attnum), obj_description(c.oid, 'pg_class')
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
    AND NOT c.relispartition
"""
VIEWS = """
SELECT relname::text, obj_description(oid, 'pg_class') FROM pg_class WHERE relkind = 'v' AND relname ^@ 'analytics_'
"""


def our_comments() -> dict[tuple[str, str], tuple[str | None, str | None]]:
    """The comments of the column and the table, by the names of both, in tables of this project."""
    ours = {label for label in apps.app_configs if label in settings.INSTALLED_APPS and "." not in label}
    return {
        (table, column): (comment, table_comment)
        for table, column, comment, table_comment in rows(COMMENTS)
        if table.partition("_")[0] in ours
    }


def test_every_table_and_column_has_a_comment() -> None:
    by_column = our_comments()
    tables = {table for table, _ in by_column}
    assert {"accounts_user_groups", "analytics_rawclick", "links_searchable"} < tables
    assert [key for key, comments in by_column.items() if not all(comments)] == []


def test_comments_in_the_database_are_those_of_the_models() -> None:
    by_column = our_comments()
    fields = [
        (model._meta.db_table, field.column, field.db_comment, model._meta.db_table_comment)
        for model in apps.get_models()
        for field in model._meta.local_concrete_fields
        if field.column and field.db_comment
    ]
    assert len(fields) > 100
    assert [
        (table, column) for table, column, *comments in fields if by_column[table, column] != tuple(comments)
    ] == []


def test_views_have_comments() -> None:
    views = dict(rows(VIEWS))
    assert views.keys() == {
        *("analytics_readable_click", "analytics_readable_daycount", "analytics_readable_lifecount"),
        *("analytics_readable_monthcount", "analytics_click", "analytics_daycount"),
        *(
            "analytics_quartertotal",
            "analytics_rolledday",
            "analytics_rolledquarter",
            "analytics_rolledoutcome",
        ),
        "analytics_rolledlink",
    }
    assert all(views.values())


def test_a_view_names_the_kinds_of_requests() -> None:
    texts = dict.fromkeys(
        (
            "reason",
            "country",
            "city",
            "region",
            "device",
            "browser",
            "operating_system",
            "language",
            "referrer",
        ),
        "-",
    )
    for kind in Kind:
        store_clicks([Click(time=datetime(2026, 1, 1, tzinfo=UTC), link_id=kind, kind=kind, **texts)])
    kinds = rows("SELECT link_id, kind FROM analytics_readable_click")
    assert sorted(kinds) == [(kind.value, kind.name.lower()) for kind in Kind]
    columns = [field.column for field in Click._meta.local_concrete_fields]
    names = rows(
        "SELECT attname::text FROM pg_attribute WHERE attrelid = 'analytics_readable_click'::regclass AND attnum > 0"
    )
    assert sorted(name for (name,) in names) == sorted(columns)


def test_views_name_the_dimensions_and_add_up_the_slots() -> None:
    day = datetime(2026, 1, 1, tzinfo=UTC).date()
    for dimension in Dimension:
        for slot in range(2):
            count = {"link_id": 1, "dimension": dimension, "slot": slot, "value": "DE", "clicks": 3}
            BusyDayCount.objects.create(day=day, **count)
            LifeCount.objects.create(**count)
            MonthCount.objects.create(month=day, **count)
    names = sorted(dimension.name.lower() for dimension in Dimension)
    by_day = rows("SELECT dimension, link_id, day, value, clicks FROM analytics_readable_daycount")
    assert sorted(by_day) == [(name, 1, day, "DE", 6) for name in names]
    in_all = rows("SELECT dimension, link_id, value, clicks FROM analytics_readable_lifecount")
    assert sorted(in_all) == [(name, 1, "DE", 6) for name in names]
    by_month = rows("SELECT dimension, link_id, month, value, clicks FROM analytics_readable_monthcount")
    assert sorted(by_month) == [(name, 1, day, "DE", 6) for name in names]


def test_psql_shows_the_numbers_with_their_names() -> None:
    by_column = our_comments()
    for enumeration, columns in {
        Kind: [("analytics_rawclick", "kind")],
        Dimension: [
            (f"analytics_{table}", "dimension") for table in ("busydaycount", "lifecount", "monthcount")
        ],
    }.items():
        names = ", ".join(f"{member.value} {member.name.lower()}" for member in enumeration)
        assert {by_column[column][0] for column in columns} == {f"{names}."}
