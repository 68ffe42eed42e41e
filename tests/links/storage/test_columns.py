from __future__ import annotations

import re

import pytest
from django.db import connection

from links.fields import RESTRICTIONS, STORED, Kind
from links.models import Link
from links.representations import changeable_fields
from links.storage.columns import INSERTED

SET_BY_THE_DATABASE = {"id", "is_dead", "created_at", "updated_at"}
SHORT_TYPES = {"timestamp with time zone": "timestamptz"}


def short_type(db_type: str | None) -> str:
    """Return the type without its length: values are cast to text, and the table checks their length."""
    without_length = re.sub(r"varchar\(\d+\)", "text", str(db_type))
    return SHORT_TYPES.get(without_length, without_length)


@pytest.mark.django_db
def test_every_column_of_the_model_is_in_the_table_with_its_type() -> None:
    fields = {field.column: short_type(field.db_type(connection)) for field in Link._meta.concrete_fields}
    assert {column.name: column.sql_type for column in INSERTED} == {
        name: kind for name, kind in fields.items() if name not in SET_BY_THE_DATABASE
    }


def test_every_field_has_the_default_of_its_column() -> None:
    defaults = {
        field.column: list(field.default) if field.kind is Kind.LIST else field.default for field in STORED
    }
    objects: dict[str, object] = {"utm": {}, "rules": [], "split": []}
    assert {name: Link._meta.get_field(name).get_default() for name in defaults} == defaults | objects


def test_a_link_shows_every_restriction_that_is_set() -> None:
    values = {field.column: ["x"] if field.kind is Kind.LIST else 5 for field in RESTRICTIONS}
    assert changeable_fields(Link(**values))["restrictions"] == {
        field.name: values[field.column] for field in RESTRICTIONS
    }
    assert changeable_fields(Link())["restrictions"] == {}
