from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.rest.fields import List, QueryInteger, Text, choice_field
from events.representations import feed
from events.types import EventType

DEFAULT_EVENTS, MAX_EVENTS = 100, 1_000
_TYPES = EventType.values


class TypesField(Text):
    """A list with commas."""

    default_error_messages = {"type": "Must be types of events, separated by commas."}

    def to_internal_value(self, data: Any) -> list[str]:  # type: ignore[override] # the list, not its text
        types = super().to_internal_value(data).split(",")
        if not set(types) <= set(_TYPES):
            self.fail("type")
        return types


class FeedQuery(serializers.Serializer[Any]):
    after = Text(
        required=False, help_text="The `next` of the previous answer. Without it, from the oldest event."
    )
    types = TypesField(
        required=False, help_text="Types with commas between. Without it, all types of the feed."
    )
    limit = QueryInteger(default=DEFAULT_EVENTS, min_value=1, max_value=MAX_EVENTS)


class FeedSerializer(serializers.Serializer[Any]):
    returned = feed.names
    types = List(child=choice_field(choices=_TYPES), max_length=len(_TYPES))
