"""Adds rules of links' fields to the description that drf-spectacular cannot derive from the serializers."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework.fields import ChoiceField

from common.openapi.error_examples import invalid
from common.openapi.operations import annotate, name_choices
from links.codes import PATTERN
from links.fields import Device, RedirectType
from links.models import MAX_CODE
from links.routing.schema import BAD_ROUTES, ROUTING_NOTES
from links.serializer_fields import (
    CodeField,
    CountryField,
    CurrentOrNewCodeField,
    DeviceField,
    RedirectTypeField,
    TagField,
    TagsField,
)
from links.serializers import CreateLinkSerializer, UpdateLinkSerializer

extend_schema_field({"type": "string", "maxLength": 50, "pattern": "^[A-Za-z0-9]{3,50}$"})(CodeField)
extend_schema_field({"type": "string", "maxLength": MAX_CODE, "pattern": f"^{PATTERN}$"})(
    CurrentOrNewCodeField
)
extend_schema_field({"type": "string", "pattern": "^[A-Za-z]{2}$"})(CountryField)
name_choices("DeviceType", Device.values)
name_choices("RedirectType", RedirectType.values)
extend_schema_field(ChoiceField(Device.values))(DeviceField)
extend_schema_field(ChoiceField(RedirectType.values))(RedirectTypeField)
# drf-spectacular derives the minimum length from ``allow_blank``.
annotate(
    CreateLinkSerializer,
    {"customCode": {"minLength": 3}, "redirectType": {"default": int(RedirectType.FOUND)}, **ROUTING_NOTES},
)
annotate(UpdateLinkSerializer, {"customCode": {"minLength": 1}, **ROUTING_NOTES})

BAD_FIELDS = (
    *(
        invalid(f"restrictions.{name}.0", "country", str(CountryField.default_error_messages["country"]))
        for name in ("allowedCountries", "blockedCountries")
    ),
    invalid("tags.0", "blank_tag", str(TagField.default_error_messages["blank_tag"])),
    *BAD_ROUTES,
)
BAD_TAGS = invalid("tags", "tag", str(TagsField.default_error_messages["tag"]))
