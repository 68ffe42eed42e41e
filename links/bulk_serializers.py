"""What calls with many links look like. The links themselves are judged one by one, by the rules of a single one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rest_framework import serializers

from common.envelope import invalid
from common.errors import ServiceError
from common.fields import Text
from links import rules
from links.bulk import MAX_ITEMS
from links.serializers import UpdateLinkSerializer

EITHER = "Send either urls, or ids and data."


class ObjectField(serializers.Field[dict[str, Any], Any, dict[str, Any], Any]):
    default_error_messages = {"invalid": "Must be an object."}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("invalid")
        return data

    def to_representation(self, value: dict[str, Any]) -> dict[str, Any]:
        return value


class BulkCreateSerializer(serializers.Serializer[Any]):
    urls = serializers.ListField(child=ObjectField(), min_length=1, max_length=MAX_ITEMS)


class BulkDeleteSerializer(serializers.Serializer[Any]):
    ids = serializers.ListField(child=Text(), min_length=1, max_length=MAX_ITEMS)


class BulkUpdateSerializer(serializers.Serializer[Any]):
    """Either the same for all, or for each its own."""

    ids = serializers.ListField(child=Text(), min_length=1, max_length=MAX_ITEMS, required=False)
    data = ObjectField(required=False)  # type: ignore[assignment] # DRF's own attribute, which fields hide on purpose
    urls = serializers.ListField(child=ObjectField(), min_length=1, max_length=MAX_ITEMS, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if set(attrs) not in ({"urls"}, {"ids", "data"}):
            raise serializers.ValidationError({"urls": EITHER}, code="ambiguous")
        if "urls" not in attrs:
            attrs["urls"] = [{**attrs["data"], "_id": public_id} for public_id in attrs["ids"]]
        return attrs


class UpdateItemSerializer(UpdateLinkSerializer):
    _id = Text(source="public_id")


def judged(
    serializer: serializers.Serializer[Any], items: Iterable[dict[str, Any]]
) -> Iterator[dict[str, Any] | ServiceError]:
    """The validated fields of each item, or what is wrong with them, as they are asked for."""
    passwords = 0
    for item in items:
        try:
            fields = serializer.run_validation(item)
        except serializers.ValidationError as error:
            yield invalid(error)
            continue
        hashes = fields.get("password") is not None
        passwords += hashes
        yield rules.too_many_passwords() if hashes and passwords > rules.MAX_PASSWORDS else fields
