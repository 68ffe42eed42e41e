"""Named components for choices, so that generated clients have one readable type for each set of choices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_choice_field
from drf_spectacular.utils import Direction

_NAMES: dict[tuple[Any, ...], str] = {}


def name_choices(component: str, values: Iterable[Any]) -> None:
    """Name the component of every ``ChoiceField`` with exactly these values. Other choices stay inline."""
    _NAMES[tuple(values)] = component


class _ChoiceExtension(OpenApiSerializerFieldExtension):
    target_class = "rest_framework.fields.ChoiceField"

    def get_name(self) -> str | None:
        return _NAMES.get(tuple(self.target.choices))

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema: dict[str, Any] = build_choice_field(self.target)
        return schema
