"""The conditions of rules, by type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from rest_framework import serializers

from common.rest.envelope import invalid
from common.rest.fields import Boolean, List, Text
from links.routing.condition_values import (
    LanguageField,
    NetworkField,
    Period,
    QueryParameter,
    ReferrerHostField,
    Schedule,
)
from links.routing.listed_objects import ListedObject
from links.serializer_fields import CountryField, DeviceField

_MAX_VALUES = 50
_MAX_NETWORKS = 20


class ConditionType(NamedTuple):
    """``value`` validates one of the condition's values; None if it takes no values."""

    value: serializers.Field[Any, Any, Any, Any] | None
    max_values: int = _MAX_VALUES


CONDITION_TYPES: Mapping[str, ConditionType] = {
    "country": ConditionType(CountryField()),
    "device": ConditionType(DeviceField()),
    "os": ConditionType(Text(characters=64)),
    "browser": ConditionType(Text(characters=64)),
    "language": ConditionType(LanguageField(characters=35)),
    "referrerHost": ConditionType(ReferrerHostField(characters=253)),
    "query": ConditionType(QueryParameter()),
    "network": ConditionType(NetworkField(characters=50), _MAX_NETWORKS),
    "time": ConditionType(Period()),
    "schedule": ConditionType(Schedule()),
    "scanned": ConditionType(None),
}


class ConditionTypeField(Text):
    default_error_messages = {"unknown_condition": f"Must be one of {', '.join(CONDITION_TYPES)}."}

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if name not in CONDITION_TYPES:
            self.fail("unknown_condition")
        return name


class _ConditionValues(serializers.Field[Any, Any, Any, Any]):
    """The values as sent. Their rules depend on the type of the condition."""

    def to_internal_value(self, data: Any) -> Any:
        return data


def _lists_of_values() -> dict[str, List]:
    return {
        name: List(child=kind.value, min_length=1, max_length=kind.max_values)
        for name, kind in CONDITION_TYPES.items()
        if kind.value is not None
    }


_LISTS = _lists_of_values()


class _ConditionRules(ListedObject):
    def to_internal_value(self, data: Any) -> dict[str, Any]:
        fields: dict[str, Any] = super().to_internal_value(data)
        name, values = fields["type"], fields.get("values")
        return {"type": name, "values": _values(name, values), "not": fields.get("not", False)}


def _values(name: str, values: Any) -> list[Any]:
    """Reports the first broken rule for the list as a whole, because clients show one error for it."""
    if name not in _LISTS:
        if values in (None, []):
            return []
        raise _refusal(f"A condition of the type {name} takes no values.", "no_values")
    if values is None:
        raise _refusal("This field is required.", "required")
    try:
        validated: list[Any] = _LISTS[name].run_validation(values)
    except serializers.ValidationError as error:
        first = invalid(error).errors[0]
        place = "" if first.field == "body" else f"{first.field}: "
        raise _refusal(f"{place}{first.message}", first.code) from None
    return validated


def _refusal(message: str, code: str) -> serializers.ValidationError:
    return serializers.ValidationError({"values": [serializers.ErrorDetail(message, code=code)]})


# Declared like this because ``not`` is a keyword.
ConditionSerializer: Any = type(
    "Condition",
    (_ConditionRules,),
    {
        "type": ConditionTypeField(),
        "values": _ConditionValues(required=False),
        "not": Boolean(required=False),
    },
)
