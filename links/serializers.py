"""The rules of each field of a request. `links.services` checks the rules that need other rows of the database."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import models
from rest_framework import serializers

from common.http.short_urls import BASE_ID
from common.rest.fields import (
    Boolean,
    DateTime,
    DestinationField,
    Integer,
    List,
    Object,
    QueryBoolean,
    QueryInteger,
    StrictObject,
    Text,
    choice_field,
)
from common.rest.pagination import PageQuery
from links.codes import code_rule
from links.fields import BY_NAME, FIELDS, RESTRICTIONS, UNIQUE, Kind, LinkField
from links.grouped_counts import GroupBy
from links.health.states import HealthStatus
from links.representations import REPORT_PARAMETERS, WHOLE_URL, saved_view
from links.routing.serializers import PreviewSerializer, RulesField, SplitField
from links.rules import MAX_TAGS
from links.searches import ALL, ANY
from links.serializer_fields import (
    MAX_TAG,
    AccountIdField,
    ArchivedField,
    CodeField,
    CountryField,
    CurrentOrNewCodeField,
    DeviceField,
    HealthCheckField,
    RedirectTypeField,
    ReferrerPolicyField,
    StatusesField,
    TagField,
    TagsField,
)

AnyField = serializers.Field[Any, Any, Any, Any]

# The longest short URL: a scheme, a host of 253 characters, a code of 255 and two slashes.
MAX_SEARCH = 8 + 253 + 255 + 2


# Of a count.
DEFAULT_GROUPS, MAX_GROUPS = 100, 1_000
# The ids of a hundred links.
MAX_REPORT_PARAMETER = 4_000
# Longer than anybody plans, and a number of days that PostgreSQL can add to a time.
MAX_EXPIRY_DAYS = 36_500


class SortBy(models.TextChoices):
    CREATED_AT = "createdAt"
    CLICK_COUNT = "clickCount"
    TITLE = "title"


_ORDERS = ["asc", "desc"]
_TAGS_MODES = [ANY, ALL]


class UtmSerializer(StrictObject):
    source = Text(required=False, allow_null=True, allow_blank=True, characters=200)  # type: ignore[assignment] # hides DRF's
    medium = Text(required=False, allow_null=True, allow_blank=True, characters=200)
    campaign = Text(required=False, allow_null=True, allow_blank=True, characters=200)
    term = Text(required=False, allow_null=True, allow_blank=True, characters=200)
    content = Text(required=False, allow_null=True, allow_blank=True, characters=200)


_MAX_NUMBER = 2_147_483_647
# What a list in ``restrictions`` has, and how many of them.
_LISTED: dict[str, Callable[..., List]] = {
    "allowedCountries": partial(List, child=CountryField(), max_length=300),
    "blockedCountries": partial(List, child=CountryField(), max_length=300),
    "allowedDevices": partial(List, child=DeviceField(), max_length=10),
}


def _restriction(field: LinkField) -> AnyField:
    options: dict[str, Any] = {"source": field.column, "required": False, "allow_null": True}
    if field.kind is Kind.COUNT:
        return Integer(min_value=1, max_value=_MAX_NUMBER, **options)
    return _LISTED[field.name](**options)


class RestrictionsSerializer(StrictObject):
    """The parts of the field ``restrictions`` in the table."""


RestrictionsSerializer._declared_fields.update({field.name: _restriction(field) for field in RESTRICTIONS})


_BY_KIND: dict[Kind, Callable[..., AnyField]] = {
    Kind.TEXT: partial(Text, allow_blank=True),
    Kind.URL: DestinationField,
    Kind.MOMENT: DateTime,
    Kind.FLAG: Boolean,
}


def tags_field(**options: Any) -> List:
    return List(child=TagField(characters=MAX_TAG), max_length=MAX_TAGS, **options)


_OWN_RULES: dict[str, Callable[..., AnyField]] = {
    "customCode": CodeField,
    "tags": tags_field,
    "password": partial(Text, min_length=1, max_length=128, style={"input_type": "password"}),
    "utm": UtmSerializer,
    "restrictions": RestrictionsSerializer,
    "redirectType": RedirectTypeField,
    "healthCheck": HealthCheckField,
    "referrerPolicy": ReferrerPolicyField,
    "rules": RulesField,
    "split": SplitField,
    "preview": PreviewSerializer,
}


def _rule(field: LinkField) -> AnyField:
    options: dict[str, Any] = {"required": False}
    if field.column != field.name:
        options["source"] = field.column
    # A link is either active or not.
    if field.name != "isActive":
        options["allow_null"] = True
    if field.help is not None:
        options["help_text"] = field.help
    if field.characters is not None:
        options["characters"] = field.characters
    if field.is_unique:
        options["allow_blank"] = False
    return (_OWN_RULES.get(field.name) or _BY_KIND[field.kind])(**options)


class _WritableFields(Object):
    """The fields of the table `links.fields.FIELDS`, and the template of one of them."""

    utmTemplateId = Text(
        source="utm_template_id",
        required=False,
        allow_null=True,
        help_text="The `_id` of a UTM template, for this call: it completes the `utm` that is sent, and refuses other"
        " values than it allows. An update without `utm` replaces that of the link.",
    )


# Where DRF collects the fields of a class.
_WritableFields._declared_fields.update({field.name: _rule(field) for field in FIELDS})


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


class NewLinkSerializer(_FieldsOfNewLink, _WritableFields):
    isActive = _ActiveByDefault(
        source="is_active",
        required=False,
        allow_null=True,
        help_text="Whether the link redirects. Default: true.",
    )


class CreateLinkSerializer(NewLinkSerializer):
    findIfExists = Boolean(
        source="find_if_exists",
        required=False,
        help_text="Return a link of the workspace that has all these values already, if there is one. Default: false.",
    )


class DuplicateLinkSerializer(NewLinkSerializer):
    originalUrl = DestinationField(
        source="destination", required=False, help_text="Default: that of the link, with its `targetUrl`."
    )
    domainId = Text(
        source="domain_id", required=False, allow_null=True, help_text="Default: the domain of the link."
    )


class UpsertLinkSerializer(NewLinkSerializer):
    externalId = Text(
        source="external_id",
        characters=BY_NAME["externalId"].characters,
        help_text="Which link of the workspace is meant.",
    )


class _ReturnedFields(Object):
    """Clients may send back whole objects. The service compares read-only fields, or ignores them."""

    returned = WHOLE_URL.names
    originalUrl = Text(source="original_url", required=False, help_text="Only the current value is accepted.")
    shortCode = Text(source="short_code", required=False, help_text="Only the current value is accepted.")


class UpdateLinkSerializer(_ReturnedFields, _WritableFields):
    customCode = CurrentOrNewCodeField(
        source="custom_code",
        required=False,
        allow_null=True,
        help_text=f"{code_rule()} Case-sensitive. Or the current code of an imported link.",
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
        help_text=f"Tags separated by commas, each of at most {MAX_TAG} characters: links with any of them. In a"
        " tag, write a comma as `\\,`. Case-insensitive.",
    )
    tagsMode = choice_field(
        source="tags_mode",
        choices=_TAGS_MODES,
        required=False,
        help_text="Whether links need any (the default) or all of the `tags`.",
    )
    excludeTags = TagsField(
        source="exclude_tags",
        required=False,
        allow_blank=True,
        characters=MAX_TAGS * (MAX_TAG + 1),
        help_text="Tags separated by commas: only links without any of them.",
    )
    isActive = QueryBoolean(
        source="is_active",
        required=False,
        help_text="Only active links, or only inactive links.",
    )
    status = StatusesField(
        source="statuses",
        required=False,
        help_text="Statuses separated by commas: links with any of them now.",
    )
    archived = ArchivedField(
        source="is_archived",
        required=False,
        help_text="`no`, `yes` or `any`. Default: `any` for exports and with an `externalId`, otherwise `no`.",
    )
    health = choice_field(
        choices=[HealthStatus.DEAD.value],
        required=False,
        help_text="`dead`: only links whose destination is dead.",
    )
    createdFrom = DateTime(
        source="created_from",
        required=False,
        help_text="Only links that were created at this time or later. In a URL, encode + as %2B.",
    )
    createdBefore = DateTime(
        source="created_before", required=False, help_text="Only links that were created before this time."
    )
    createdAfter = DateTime(
        source="created_after", required=False, help_text="Only links that were created after this time."
    )
    expiresWithin = QueryInteger(
        source="expires_within",
        required=False,
        min_value=1,
        max_value=MAX_EXPIRY_DAYS,
        help_text="Only links that expire within this number of days, and have not expired.",
    )
    domainId = Text(
        source="domain_id",
        required=False,
        help_text=f"Only links on the domain with this `id`; `{BASE_ID}` is the default domain.",
    )
    creator = AccountIdField(
        required=False, help_text="Only links that the account with this `_id` created in the workspace."
    )
    hasPassword = QueryBoolean(
        source="has_password", required=False, help_text="Only links with a password, or without one."
    )
    destination = DestinationField(
        required=False,
        help_text="Only links that lead to this URL: their `targetUrl`, or else their `originalUrl`.",
    )


ListFilters._declared_fields.update({
    field.name: Text(
        source=field.column,
        required=False,
        characters=field.characters,
        help_text=f"Only the link with this `{field.name}`.",
    )
    for field in UNIQUE
})  # fmt: skip


class ListQuery(PageQuery, ListFilters):
    sortBy = choice_field(source="sort_by", choices=SortBy.values, default=SortBy.CREATED_AT.value)
    sortOrder = choice_field(source="sort_order", choices=_ORDERS, default="desc")


class CountQuery(ListFilters):
    groupBy = choice_field(source="group_by", choices=GroupBy.values, required=False)
    limit = QueryInteger(
        default=DEFAULT_GROUPS,
        min_value=1,
        max_value=MAX_GROUPS,
        help_text="At most so many groups, the largest ones.",
    )


class CodeQuery(serializers.Serializer[Any]):
    code = Text(help_text="The `customCode` that a link could get.")
    domainId = Text(
        source="domain_id", required=False, help_text="The domain of the link. `base` is the default domain."
    )


class ShortUrlQuery(serializers.Serializer[Any]):
    shortUrl = Text(
        source="short_url", help_text="With or without its scheme, such as `go.example.com/spring`."
    )


class ChosenParameter(serializers.ChoiceField):
    """A choice that the API describes by a pattern: it has no name for an enumeration in generated clients."""


class ViewFiltersSerializer(ListFilters, StrictObject):
    """The parameters of a list that a view keeps, as texts."""

    health = ChosenParameter(choices=[HealthStatus.DEAD.value], required=False)
    tagsMode = ChosenParameter(choices=_TAGS_MODES, required=False)
    sortBy = ChosenParameter(choices=SortBy.values, required=False)
    sortOrder = ChosenParameter(choices=_ORDERS, required=False)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        super().to_internal_value(data)
        return {name: _parameter(value) for name, value in data.items() if name in self.fields}


class ViewReportSerializer(StrictObject):
    """The parameters of a report that a view keeps, as texts. `links.saved_views` has their values checked."""


ViewReportSerializer._declared_fields.update({
    name: Text(required=False, allow_blank=True, characters=MAX_REPORT_PARAMETER) for name in REPORT_PARAMETERS
})  # fmt: skip


def _parameter(value: Any) -> str:
    """A JSON value as the text of a parameter."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class UpdateViewSerializer(serializers.Serializer[Any]):
    returned = saved_view.names
    name = Text(required=False, characters=60, help_text="Unique within the workspace.")
    filters = ViewFiltersSerializer(
        required=False, help_text="Parameters of `GET /api/urls` except `page` and `limit`."
    )
    report = ViewReportSerializer(
        required=False,
        allow_null=True,
        help_text="Parameters of `GET /api/analytics` except `limit` and `groupBy`: the view is a campaign.",
    )


NO_CONTENT = "Send filters, a report, or both."


class CreateViewSerializer(UpdateViewSerializer):
    name = Text(characters=60, help_text="Unique within the workspace.")
    filters = ViewFiltersSerializer(
        required=False,
        allow_null=True,
        help_text="Parameters of `GET /api/urls` except `page` and `limit`. Required without `report`.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("filters") is None:
            if attrs.get("report") is None:
                raise serializers.ValidationError({"filters": NO_CONTENT}, code="one_of")
            attrs["filters"] = {}
        return attrs
