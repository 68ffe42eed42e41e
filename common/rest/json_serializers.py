"""Serializers for bulk calls and imports, which validate thousands of objects.

Trades clarity for speed: absent fields cost almost nothing. DRF's own loop over all fields took two thirds of the time
of an imported row. bench/results.md, "Links", has the resulting rates.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, ClassVar

from rest_framework import serializers


class Object(serializers.Serializer[Any]):
    """DRF's serializer without support for forms, dotted sources and ``validate_<field>`` methods."""

    # Fields of responses, which clients may send back. They are ignored without a warning.
    returned: ClassVar[Collection[str]] = ()
    # The serializers of objects inside this one that are validated later, by their path.
    inner: ClassVar[Mapping[str, type[serializers.Serializer[Any]]]] = {}

    @cached_property
    def _validated_fields(self) -> list[tuple[str, serializers.Field[Any, Any, Any, Any], bool]]:
        """Each field with a flag: whether to validate it even if absent."""
        return [
            (name, field, field.required or field.default is not serializers.empty)
            for name, field in self.fields.items()
        ]

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            # Raises DRF's error for a value that is not an object.
            return super().to_internal_value(data)
        values, errors = {}, {}
        for name, field, is_always_validated in self._validated_fields:
            if is_always_validated or name in data:
                try:
                    values[field.source] = field.run_validation(data.get(name, serializers.empty))
                except serializers.ValidationError as error:
                    errors[name] = error.detail
        if errors:
            raise serializers.ValidationError(errors)
        return values

    def run_validators(self, value: Any) -> None:
        # DRF prepares the validators' context even if there are no validators.
        if self.validators:
            super().run_validators(value)


class StrictObject(Object):
    """An object without unknown keys, whatever the client prefers: `common.rest.handling` refuses them."""
