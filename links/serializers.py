"""The documented rules of each field, one line a field; rules that need another row are the services'."""

from __future__ import annotations

from typing import Any

from django.db import models
from rest_framework import serializers

from common.countries import COUNTRY_CODES
from common.fields import Boolean, DateTime, DestinationField, Integer, QueryBoolean, Text, count_characters
from common.objects import Object, StrictObject
from common.pagination import PageQuery
from links.codes import is_code
from links.exports import ExportFormat
from links.models import Device, RedirectType

MAX_TAGS = 50
MAX_TAG = 50
MAX_SEARCH = 200


class SortBy(models.TextChoices):
    CREATED_AT = "createdAt"
    CLICK_COUNT = "clickCount"
    TITLE = "title"


class TagField(Text):
    """Not only blanks, which the filter by tags could never name."""

    # What is a blank differs between languages, so that no pattern of a schema says it.
    default_error_messages = {"blank_tag": "A tag has more than blanks."}

    def to_internal_value(self, data: Any) -> str:
        tag = super().to_internal_value(data)
        if not tag.strip():
            self.fail("blank_tag")
        return tag


class TagsField(Text):
    """Tags in a query string, separated by commas. What is longer than a tag can be is no word for the index."""

    default_error_messages = {"tag": f"A tag has at most {MAX_TAG} characters."}

    def to_internal_value(self, data: Any) -> str:
        tags = super().to_internal_value(data)
        if any(count_characters(tag.strip()) > MAX_TAG for tag in tags.split(",")):
            self.fail("tag")
        return tags


class UtmSerializer(StrictObject):
    source = Text(required=False, allow_null=True, allow_blank=True, characters=200)  # type: ignore[assignment] # DRF
    medium = Text(required=False, allow_null=True, allow_blank=True, characters=200)
    campaign = Text(required=False, allow_null=True, allow_blank=True, characters=200)
    term = Text(required=False, allow_null=True, allow_blank=True, characters=200)
    content = Text(required=False, allow_null=True, allow_blank=True, characters=200)


class CountryField(Text):
    default_error_messages = {"country": "Must be an ISO 3166-1 alpha-2 country code."}

    def to_internal_value(self, data: Any) -> str:
        code = super().to_internal_value(data)
        # Beyond ASCII, upper-casing spells countries out of other letters: "ß" would be South Sudan.
        if not code.isascii() or code.upper() not in COUNTRY_CODES:
            self.fail("country")
        return code.upper()


class DeviceField(Text):
    default_error_messages = {"device": "Must be desktop, mobile or tablet."}

    def to_internal_value(self, data: Any) -> str:
        device = super().to_internal_value(data)
        if device not in Device.values:
            self.fail("device")
        return device


class RestrictionsSerializer(StrictObject):
    maxClicks = Integer(
        source="max_clicks", required=False, allow_null=True, min_value=1, max_value=2_147_483_647
    )
    allowedCountries = serializers.ListField(
        source="allowed_countries", child=CountryField(), required=False, allow_null=True, max_length=300
    )
    blockedCountries = serializers.ListField(
        source="blocked_countries", child=CountryField(), required=False, allow_null=True, max_length=300
    )
    allowedDevices = serializers.ListField(
        source="allowed_devices", child=DeviceField(), required=False, allow_null=True, max_length=10
    )


class CodeField(Text):
    default_error_messages = {"code": "Must be 3 to 50 letters and digits (A-Z, a-z, 0-9)."}

    def to_internal_value(self, data: Any) -> str:
        code = super().to_internal_value(data)
        if not is_code(code):
            self.fail("code")
        return code


class RedirectTypeField(Integer):
    default_error_messages = {"redirect_type": "Must be 301 or 302."}

    def to_internal_value(self, data: Any) -> int:
        redirect_type = super().to_internal_value(data)
        if redirect_type not in RedirectType.values:
            self.fail("redirect_type")
        return redirect_type


class _WritableFields(Object):
    customCode = CodeField(source="custom_code", required=False, allow_null=True)
    title = Text(required=False, allow_null=True, allow_blank=True, characters=200)
    description = Text(required=False, allow_null=True, allow_blank=True, characters=500)
    tags = serializers.ListField(
        child=TagField(characters=MAX_TAG), required=False, allow_null=True, max_length=MAX_TAGS
    )
    expiresAt = DateTime(source="expires_at", required=False, allow_null=True)
    password = Text(required=False, allow_null=True, min_length=1, max_length=128)
    utm = UtmSerializer(required=False, allow_null=True)
    restrictions = RestrictionsSerializer(required=False, allow_null=True)
    redirectType = RedirectTypeField(source="redirect_type", required=False, allow_null=True)


class _FieldsOfANewLink(Object):
    originalUrl = DestinationField(source="original_url")
    domainId = Text(source="domain_id", required=False, allow_null=True)


class CreateLinkSerializer(_FieldsOfANewLink, _WritableFields):
    pass


class _FieldsSentBack(Object):
    """Clients send back whole objects: what cannot be changed is compared by the service, or ignored."""

    originalUrl = Text(source="original_url", required=False)
    shortCode = Text(source="short_code", required=False)
    isActive = Boolean(source="is_active", required=False)


class UpdateLinkSerializer(_FieldsSentBack, _WritableFields):
    pass


class ListFilters(serializers.Serializer[Any]):
    search = Text(required=False, allow_blank=True, characters=MAX_SEARCH)
    tags = TagsField(required=False, allow_blank=True, characters=MAX_TAGS * (MAX_TAG + 1))
    isActive = QueryBoolean(source="is_active", required=False)


class ListQuery(PageQuery, ListFilters):
    sortBy = serializers.ChoiceField(source="sort_by", choices=SortBy.values, default=SortBy.CREATED_AT.value)
    sortOrder = serializers.ChoiceField(source="sort_order", choices=["asc", "desc"], default="desc")


class ExportQuery(ListFilters):
    format = serializers.ChoiceField(
        source="file_format", choices=ExportFormat.values, default=ExportFormat.CSV.value
    )
