from __future__ import annotations

import re

import pytest
from django.db import connection

from links.models import Link
from links.representations import changeable_fields
from links.serializers import RestrictionsSerializer
from links.storage.columns import INSERTED, RESTRICTIONS

SET_BY_THE_DATABASE = {"id", "created_at", "updated_at"}
SHORT_TYPES = {"timestamp with time zone": "timestamptz"}


def short_type(db_type: str | None) -> str:
    """Without the length: values are cast to text, and the table checks their length."""
    without_length = re.sub(r"varchar\(\d+\)", "text", str(db_type))
    return SHORT_TYPES.get(without_length, without_length)


@pytest.mark.django_db
def test_every_column_of_the_model_is_in_the_table_with_its_type() -> None:
    fields = {field.column: short_type(field.db_type(connection)) for field in Link._meta.concrete_fields}
    assert {column.name: column.sql_type for column in INSERTED} == {
        name: kind for name, kind in fields.items() if name not in SET_BY_THE_DATABASE
    }


def test_the_api_accepts_exactly_the_restrictions_of_the_table() -> None:
    fields = RestrictionsSerializer().fields
    assert {name: field.source for name, field in fields.items()} == {
        column.api_name: column.name for column in RESTRICTIONS
    }


def test_a_link_shows_every_restriction_that_is_set() -> None:
    values = {column.name: ["x"] if column.is_list else 5 for column in RESTRICTIONS}
    assert changeable_fields(Link(**values))["restrictions"] == {
        column.api_name: values[column.name] for column in RESTRICTIONS
    }
    assert changeable_fields(Link())["restrictions"] == {}
