"""The rules of each field of a request. `links.services` checks the rules that need other rows of the database."""

from __future__ import annotations

from typing import Any

from django.db import models
from rest_framework import serializers

from common.rest.fields import (
    Boolean,
    DateTime,
    DestinationField,
    Integer,
    List,
    Object,
    QueryBoolean,
    StrictObject,
    Text,
)
from common.rest.pagination import PageQuery
from domains.addresses import BASE_ID
from links.fields import (
    MAX_TAG,
    CodeField,
    CountryField,
    CurrentOrNewCodeField,
    DeviceField,
    RedirectTypeField,
    TagField,
    TagsField,
)
from links.representations import WHOLE_URL
from links.routing.serializers import RoutingFields

MAX_TAGS = 50
# The longest short URL: a scheme, a host of 253 characters, a code of 255 and two slashes.
MAX_SEARCH = 8 + 253 + 255 + 2


class SortBy(models.TextChoices):
    CREATED_AT = "createdAt"
    CLICK_COUNT = "clickCount"
    TITLE = "title"


class UtmSerializer(StrictObject):
    source = Text(required=False, allow_null=True, allow_blank=True, characters=200)  # type: ignore[assignment] # hides DRF's
    medium = Text(required=False, allow_null=True, allow_blank=True, characters=200)
    campaign = Text(required=False, allow_null=True, allow_blank=True, characters=200)
    term = Text(required=False, allow_null=True, allow_blank=True, characters=200)
    content = Text(required=False, allow_null=True, allow_blank=True, characters=200)


class RestrictionsSerializer(StrictObject):
    maxClicks = Integer(
        source="max_clicks", required=False, allow_null=True, min_value=1, max_value=2_147_483_647
    )
    maxClicksPerVisitor = Integer(
        source="max_clicks_per_visitor", required=False, allow_null=True, min_value=1, max_value=2_147_483_647
    )
    allowedCountries = List(
        source="allowed_countries", child=CountryField(), required=False, allow_null=True, max_length=300
    )
    blockedCountries = List(
        source="blocked_countries", child=CountryField(), required=False, allow_null=True, max_length=300
    )
    allowedDevices = List(
        source="allowed_devices", child=DeviceField(), required=False, allow_null=True, max_length=10
    )


class _WritableFields(Object):
    customCode = CodeField(
        source="custom_code",
        required=False,
        allow_null=True,
        help_text="Case-sensitive.",
    )
    title = Text(required=False, allow_null=True, allow_blank=True, characters=200)
    description = Text(required=False, allow_null=True, allow_blank=True, characters=500)
    tags = List(child=TagField(characters=MAX_TAG), required=False, allow_null=True, max_length=MAX_TAGS)
    expiresAt = DateTime(
        source="expires_at",
        required=False,
        allow_null=True,
        help_text="In UTC if it has no offset. A date without a time means 00:00.",
    )
    password = Text(
        required=False,
        allow_null=True,
        min_length=1,
        max_length=128,
        style={"input_type": "password"},
        help_text="Visitors must enter it before the redirect. Null: no password.",
    )
    utm = UtmSerializer(
        required=False,
        allow_null=True,
        help_text="Campaign parameters, added to the destination. An update replaces the whole object.",
    )
    restrictions = RestrictionsSerializer(
        required=False,
        allow_null=True,
        help_text="Limits on who may follow the link, and how often. An update replaces the whole object.",
    )
    redirectType = RedirectTypeField(source="redirect_type", required=False, allow_null=True)
    isActive = Boolean(source="is_active", required=False, help_text="Whether the link redirects.")


class _FieldsOfNewLink(Object):
    originalUrl = DestinationField(
        source="destination", help_text="An http or https URL outside this service."
    )
    domainId = Text(
        source="domain_id",
        required=False,
        allow_null=True,
        help_text=f"The `id` of an available domain. Default: `{BASE_ID}`.",
    )


class _ActiveByDefault(Boolean):
    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        return (True, True) if data is None else super().validate_empty_values(data)


class CreateLinkSerializer(_FieldsOfNewLink, _WritableFields, RoutingFields):
    isActive = _ActiveByDefault(
        source="is_active",
        required=False,
        allow_null=True,
        help_text="Whether the link redirects. Default: true.",
    )


class _ReturnedFields(Object):
    """Clients may send back whole objects. The service compares read-only fields, or ignores them."""

    returned = WHOLE_URL.names
    originalUrl = Text(source="original_url", required=False, help_text="Only the current value is accepted.")
    shortCode = Text(source="short_code", required=False, help_text="Only the current value is accepted.")


class UpdateLinkSerializer(_ReturnedFields, _WritableFields, RoutingFields):
    customCode = CurrentOrNewCodeField(
        source="custom_code",
        required=False,
        allow_null=True,
        help_text="Case-sensitive. 3 to 50 letters and digits, or the current code of an imported link.",
    )


class ListFilters(serializers.Serializer[Any]):
    search = Text(
        required=False,
        allow_blank=True,
        characters=MAX_SEARCH,
        help_text="A part of the title, the URL or a code, case-insensitive; or a whole short URL, with or without its"
        " scheme.",
    )
    tags = TagsField(
        required=False,
        allow_blank=True,
        characters=MAX_TAGS * (MAX_TAG + 1),
        help_text=f"Tags separated by commas, each of at most {MAX_TAG} characters: links with any of them."
        " Case-insensitive.",
    )
    isActive = QueryBoolean(
        source="is_active",
        required=False,
        help_text="Only active links, or only inactive links.",
    )
    createdFrom = DateTime(
        source="created_from",
        required=False,
        help_text="Only links that were created at this time or later. In a URL, encode + as %2B.",
    )
    createdBefore = DateTime(
        source="created_before", required=False, help_text="Only links that were created before this time."
    )
    domainId = Text(
        source="domain_id",
        required=False,
        help_text=f"Only links on the domain with this `id`; `{BASE_ID}` is the default domain.",
    )


class ListQuery(PageQuery, ListFilters):
    sortBy = serializers.ChoiceField(source="sort_by", choices=SortBy.values, default=SortBy.CREATED_AT.value)
    sortOrder = serializers.ChoiceField(source="sort_order", choices=["asc", "desc"], default="desc")
