"""Serializers of JSON objects that come by the thousand: what was not sent costs next to nothing."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from rest_framework import serializers


class Object(serializers.Serializer[Any]):
    """As DRF's own, less what that does for forms, dotted sources and ``validate_<field>`` methods."""

    @cached_property
    def _asked(self) -> list[tuple[str, serializers.Field[Any, Any, Any, Any], bool]]:
        """Each field with whether it has a say when it was not sent."""
        return [
            (name, field, field.required or field.default is not serializers.empty)
            for name, field in self.fields.items()
        ]

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            # Says what is wrong.
            return super().to_internal_value(data)
        found, errors = {}, {}
        for name, field, has_a_say in self._asked:
            if has_a_say or name in data:
                try:
                    found[field.source] = field.run_validation(data.get(name, serializers.empty))
                except serializers.ValidationError as error:
                    errors[name] = error.detail
        if errors:
            raise serializers.ValidationError(errors)
        return found

    def run_validators(self, value: Any) -> None:
        # DRF's puts together what they would be given, also where there are none.
        if self.validators:
            super().run_validators(value)


class StrictObject(Object):
    """An object whose keys are all known: a misspelt restriction must not quietly restrict nothing."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, dict) else []
        errors: dict[str, Any] = {
            key: [serializers.ErrorDetail("There is no such key.", code="unknown")] for key in unknown
        }
        try:
            value = super().to_internal_value(data)
        except serializers.ValidationError as error:
            if not unknown:
                raise
            errors |= error.detail  # type: ignore[arg-type] # an object's errors are one too
        if errors:
            raise serializers.ValidationError(errors)
        return value
