"""Short forms for the fields of responses. ``options`` are those of the DRF field."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from rest_framework import fields

from common.openapi.responses import Field, Source
from common.rest.fields import DateTime, iso_utc


def text(
    name: str, source: Source, example: Any = ..., help_text: str | None = None, **options: Any
) -> Field:
    return Field(name, source, fields.CharField(help_text=help_text, **options), example)


def identifier(name: str, source: Source, example: str) -> Field:
    return text(name, source, example, label=name)


def public_id(example: str) -> Field:
    # The renderer writes UUIDs as text, faster than str().
    return identifier("_id", "public_id", example)


def number(
    name: str, source: Source, example: Any = ..., help_text: str | None = None, **options: Any
) -> Field:
    return Field(name, source, fields.IntegerField(help_text=help_text, **options), example)


def count(name: str, source: Source = None, example: int = 0, help_text: str | None = None) -> Field:
    return number(name, source, example, help_text, min_value=0)


def flag(
    name: str, source: Source, example: Any = ..., help_text: str | None = None, **options: Any
) -> Field:
    return Field(name, source, fields.BooleanField(help_text=help_text, **options), example)


def choice(
    name: str, source: Source, values: Sequence[Any], example: Any, help_text: str | None = None
) -> Field:
    return Field(name, source, fields.ChoiceField(values, help_text=help_text), example)


def moment(name: str, attribute: str | None, example: Any = ..., **options: Any) -> Field:
    """An attribute that holds a datetime, or None where ``options`` allow it."""
    return Field(name, None if attribute is None else _moment_of(attribute), DateTime(**options), example)


def _moment_of(attribute: str) -> Any:
    read = attrgetter(attribute)

    def get(value: Any) -> str | None:
        moment = read(value)
        return None if moment is None else iso_utc(moment)

    return get
