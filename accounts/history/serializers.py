from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework import serializers

from common.ids import parse_public_id
from common.rest.fields import QueryInteger, Text
from common.rest.pagination import DEFAULT_LIMIT, MAX_LIMIT

NO_ID = "Must be an id."


class _Id(Text):
    default_error_messages = {"id": NO_ID}

    def to_internal_value(self, data: Any) -> UUID:  # type: ignore[override] # the id, not its text
        identifier = parse_public_id(super().to_internal_value(data))
        if identifier is None:
            self.fail("id")
        return identifier


class HistoryQuery(serializers.Serializer[Any]):
    cursor = Text(required=False, help_text="The `nextCursor` of the previous page.")
    limit = QueryInteger(
        default=DEFAULT_LIMIT,
        min_value=1,
        max_value=MAX_LIMIT,
        help_text="The maximum number of changes on a page.",
    )


class AuditQuery(HistoryQuery):
    actor = _Id(source="actor_id", required=False, characters=36, help_text="The `_id` of an account.")
    action = Text(required=False, characters=40, help_text="Such as `link.updated`.")
    object = _Id(source="object_id", required=False, characters=36, help_text="The `_id` of an object.")
