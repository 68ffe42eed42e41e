from __future__ import annotations

from functools import partial
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from common.http.short_urls import BASE_ID
from common.rest.fields import (
    Boolean,
    DateTime,
    DestinationField,
    List,
    Name,
    PublicIdField,
    QueryInteger,
    StrictObject,
    Text,
    choice_field,
)
from events.types import EventType
from events.webhooks.models import MAX_NAME, DeliveryStatus, Format
from events.webhooks.representations import webhook

MAX_FILTERS = 100
MAX_MEMBERS = 20
DEFAULT_DELIVERIES, MAX_DELIVERIES = 20, 50
_TYPES = [kind.value for kind in EventType]


class _DomainId(PublicIdField):
    def to_internal_value(self, data: Any) -> str:
        return BASE_ID if data == BASE_ID else super().to_internal_value(data)


class _Unique(List):
    """Without repetitions."""

    def to_internal_value(self, data: Any) -> list[Any]:
        return list(dict.fromkeys(super().to_internal_value(data)))


def _types(**options: Any) -> _Unique:
    return _Unique(child=choice_field(choices=_TYPES), min_length=1, max_length=len(_TYPES), **options)


_filter = partial(_Unique, required=False, max_length=MAX_FILTERS)


class WebhookFiltersSerializer(StrictObject):
    """Omitted filters are empty. An event has to match each filter that is not."""

    tags = _filter(child=Text(characters=50), help_text="Only links with one of these tags.")
    urlIds = _filter(child=PublicIdField(), help_text="Only these links.")
    domainIds = _filter(
        child=_DomainId(), help_text="Only these domains and their links. `base`: the default."
    )


class UpdateWebhookSerializer(serializers.Serializer[Any]):
    returned = webhook.names

    name = Name(required=False, characters=MAX_NAME)
    url = DestinationField(required=False, allow_null=True, help_text="Null keeps the address.")
    memberIds = _Unique(
        source="member_ids",
        child=PublicIdField(),
        required=False,
        max_length=MAX_MEMBERS,
        help_text="With `mail`: the members who get the mails.",
    )
    types = _types(required=False)
    filters = WebhookFiltersSerializer(required=False, help_text="Replaced as a whole.")
    isEnabled = Boolean(source="is_enabled", required=False, help_text="`true` also ends a `disabledReason`.")


class CreateWebhookSerializer(UpdateWebhookSerializer):
    name = Name(characters=MAX_NAME)
    format = choice_field(choices=Format.values, default=Format.STANDARD.value)
    url = DestinationField(required=False, allow_null=True, help_text="Where messages go. Not with `mail`.")
    types = _types()


class TestWebhookSerializer(serializers.Serializer[Any]):
    type = choice_field(
        choices=_TYPES,
        required=False,
        help_text="The type of the example. Default: the first of the webhook.",
    )


class ReplaySerializer(serializers.Serializer[Any]):
    default_error_messages = {"order": "Must be before `to`, and in the past."}

    def get_fields(self) -> dict[str, Any]:
        # `from` is a word of Python.
        return {
            "from": DateTime(source="begins_at", help_text="Time of the first event."),
            **super().get_fields(),
        }

    to = DateTime(source="ends_at", required=False, help_text="Events before this time. Default: now.")
    types = _types(required=False, help_text="Default: those of the webhook.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs["ends_at"] = min(attrs.get("ends_at") or timezone.now(), timezone.now())
        if attrs["begins_at"] >= attrs["ends_at"]:
            message = serializers.ErrorDetail(str(self.error_messages["order"]), code="order")
            raise serializers.ValidationError({"from": message})
        return attrs


class DeliveryQuery(serializers.Serializer[Any]):
    cursor = Text(required=False, help_text="The `nextCursor` of the previous page.")
    limit = QueryInteger(
        default=DEFAULT_DELIVERIES,
        min_value=1,
        max_value=MAX_DELIVERIES,
        help_text="The maximum number of deliveries on a page.",
    )
    status = choice_field(choices=DeliveryStatus.values, required=False)
    type = choice_field(choices=_TYPES, required=False)
