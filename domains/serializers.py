from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.rest.fields import DestinationField, Text
from common.rest.pagination import PageQuery
from domains.representations import domain_with_settings

# A host name has at most 253 characters, and A-labels are its longest spelling.
_MAX_CHARACTERS = 253


class ListQuery(PageQuery):
    """Without ``page`` and ``limit``, the list is complete: clients written before the list had pages keep working."""

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value(data) if data.keys() & {"page", "limit"} else {}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return super().validate(attrs) if attrs else {}


class ClaimSerializer(serializers.Serializer[Any]):
    domain = Text(
        characters=_MAX_CHARACTERS, help_text="A complete name, in any spelling that browsers understand."
    )
    subdomain = Text(
        required=False,
        allow_null=True,
        allow_blank=True,
        characters=_MAX_CHARACTERS,
        help_text="The part before the domain, if any: `go` in `go.example.com`.",
    )


class _Setting(DestinationField):
    def __init__(self, **kwargs: Any) -> None:
        text = "An http or https URL, but not of this service or a banned host."
        super().__init__(required=False, allow_null=True, help_text=text, **kwargs)


class SettingsSerializer(serializers.Serializer[Any]):
    """Omitted settings keep their value; null removes a setting."""

    returned = domain_with_settings.names

    rootUrl = _Setting(source="root_url")
    notFoundUrl = _Setting(source="not_found_url")
    expiredUrl = _Setting(source="expired_url")
