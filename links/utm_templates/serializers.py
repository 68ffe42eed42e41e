from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.rest.fields import List, Name, StrictObject, Text
from links.serializers import UtmSerializer
from links.utm_templates.representations import utm_template

MAX_ALLOWED = 50
_VALUES = "Parameters of links that name the template, unless they send others."
_ALLOWED = (
    "The values that each parameter may have, if a link has it. Any value, if a parameter is missing here."
)


def _allowed() -> List:
    return List(child=Text(characters=200), max_length=MAX_ALLOWED, required=False, allow_null=True)


class AllowedUtmValuesSerializer(StrictObject):
    source = _allowed()  # type: ignore[assignment] # hides DRF's
    medium = _allowed()
    campaign = _allowed()
    term = _allowed()
    content = _allowed()

    def to_internal_value(self, data: Any) -> dict[str, list[str]]:
        allowed = super().to_internal_value(data)
        return {key: list(dict.fromkeys(values)) for key, values in allowed.items() if values}


class UtmValuesSerializer(UtmSerializer):
    def to_internal_value(self, data: Any) -> dict[str, str]:
        return {key: value for key, value in super().to_internal_value(data).items() if value}


class UpdateUtmTemplateSerializer(serializers.Serializer[Any]):
    returned = utm_template.names
    name = Name(required=False, characters=60, help_text="Unique within the workspace.")
    values = UtmValuesSerializer(required=False, help_text=_VALUES)
    allowedValues = AllowedUtmValuesSerializer(source="allowed", required=False, help_text=_ALLOWED)


class CreateUtmTemplateSerializer(UpdateUtmTemplateSerializer):
    name = Name(characters=60, help_text="Unique within the workspace.")
    values = UtmValuesSerializer(default=dict, help_text=_VALUES)
    allowedValues = AllowedUtmValuesSerializer(source="allowed", default=dict, help_text=_ALLOWED)
