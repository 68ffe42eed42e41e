"""Objects inside lists of a request."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.errors import MAX_REPORTED, UNKNOWN_FIELD
from common.rest.fields import StrictObject


class ListedObject(StrictObject):
    """Refuses unknown keys itself, because `common.rest.unknown_fields` does not look into lists."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(data.keys() - self.fields.keys())):
            refusal = serializers.ErrorDetail("Unknown field.", code=UNKNOWN_FIELD)
            raise serializers.ValidationError({name: [refusal] for name in unknown[:MAX_REPORTED]})
        return super().to_internal_value(data)
