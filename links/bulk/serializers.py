"""Bodies of bulk calls: their sizes, their lists, and then each item by the rules of a single call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
from rest_framework import serializers

from common.errors import BadBody, InvalidFields, ServiceError
from common.rest.envelope import ResponseWarning
from common.rest.fields import List, Object, Text
from common.rest.strict_json import StrictJSONParser
from common.rest.unknown_fields import Handling
from links import rules
from links.bulk.services import MAX_ITEMS
from links.serializers import CreateLinkSerializer, UpdateLinkSerializer, tags_field


class BulkParser(StrictJSONParser):
    """Accepts a thousand links of four thousand bytes each."""

    max_bytes = 4 * 1024 * 1024


class ImportParser(StrictJSONParser):
    """Accepts a file of ten thousand links."""

    max_bytes = 8 * 1024 * 1024


Fields = dict[str, Any]

EITHER = "Send either urls, or ids and data."
TAGS_OR_EDITS = "Send either tags, or addTags and removeTags."
# As much as a call can send with separate changes for each link.
MAX_CHANGES = BulkParser.max_bytes
TOO_LARGE = (
    f"The changes, times the number of ids, exceed {MAX_CHANGES // 1024**2} MB. Send fewer ids in a call."
)


class _JsonValue(serializers.Field[Any, Any, Any, Any]):
    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class ItemField(_JsonValue):
    """An item of any type, which has its own result: `ItemReader` checks it."""


class ChangesField(_JsonValue):
    """The changes of all links of a call."""

    default_error_messages = {"invalid": "Must be an object."}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            self.fail("invalid")
        return data


class BulkCreateSerializer(Object):
    inner = {"urls.0": CreateLinkSerializer}

    urls = List(child=ItemField(allow_null=True), min_length=1, max_length=MAX_ITEMS)


class BulkDeleteSerializer(serializers.Serializer[Any]):
    ids = List(child=Text(), min_length=1, max_length=MAX_ITEMS, help_text="The `_id` of each URL.")


class MoveSerializer(BulkDeleteSerializer):
    workspaceId = Text(source="target_id", help_text="The `_id` of the workspace that gets the URLs.")


class MoveDomainSerializer(serializers.Serializer[Any]):
    workspaceId = Text(source="target_id", help_text="The `_id` of the workspace that gets the domain.")


class LinkChangesSerializer(UpdateLinkSerializer):
    addTags = tags_field(
        source="add_tags", required=False, help_text="Tags that the URL gets besides its own."
    )
    removeTags = tags_field(source="remove_tags", required=False, help_text="Tags that the URL loses.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "tags" in attrs and attrs.keys() & {"add_tags", "remove_tags"}:
            raise serializers.ValidationError({"tags": TAGS_OR_EDITS}, code="ambiguous")
        return attrs


class UpdateItemSerializer(LinkChangesSerializer):
    _id = Text(source="public_id")


class BulkUpdateSerializer(Object):
    """Either the same changes for all links, or separate changes for each."""

    inner = {"data": LinkChangesSerializer, "urls.0": UpdateItemSerializer}

    ids = List(
        child=Text(),
        min_length=1,
        max_length=MAX_ITEMS,
        required=False,
        help_text="The `_id` of each URL that `data` changes.",
    )
    data = ChangesField(required=False)  # type: ignore[assignment] # DRF's own attribute, which fields hide on purpose
    urls = List(
        child=ItemField(allow_null=True),
        min_length=1,
        max_length=MAX_ITEMS,
        required=False,
        help_text="Instead of `ids` and `data`: the `_id` and the changes of each URL.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if set(attrs) not in ({"urls"}, {"ids", "data"}):
            raise serializers.ValidationError({"urls": EITHER}, code="ambiguous")
        if "ids" in attrs and len(attrs["ids"]) * len(orjson.dumps(attrs["data"])) > MAX_CHANGES:
            raise serializers.ValidationError({"data": TOO_LARGE}, code="too_large")
        return attrs


class ItemReader:
    """Validates the items of one call. ``warnings`` has those of each item, by its position."""

    def __init__(self, handling: Handling, call: type[Object]) -> None:
        self.warnings: dict[int, list[ResponseWarning]] = {}
        self._handling = handling
        self._call = call

    def read(self, serializer: Object, items: Iterable[Any]) -> Iterator[Fields | ServiceError]:
        """Validate each item lazily. Yields its fields, or its error."""
        return _with_few_passwords(
            self._read(serializer, item, position) for position, item in enumerate(items)
        )

    def read_for_all(self, ids: Sequence[str], data: dict[str, Any]) -> Iterator[Fields | ServiceError]:
        """The same changes for each of ``ids``, validated only once."""
        fields = self._read(LinkChangesSerializer(), data, 0)
        self.warnings = dict.fromkeys(range(len(ids)), self.warnings.get(0, []))
        return _with_few_passwords(
            fields if isinstance(fields, ServiceError) else {**fields, "public_id": public_id}
            for public_id in ids
        )

    def _read(self, serializer: Object, item: Any, position: int) -> Fields | ServiceError:
        if not isinstance(item, dict):
            return BadBody("An item must be a JSON object.")
        try:
            fields, warnings = self._handling.read(serializer, item, outer=self._call)
        except InvalidFields as error:
            return error
        if warnings:
            self.warnings[position] = warnings
        return fields


def _with_few_passwords(
    items: Iterable[Fields | ServiceError],
) -> Iterator[Fields | ServiceError]:
    passwords = 0
    for fields in items:
        if isinstance(fields, ServiceError) or fields.get("password") is None:
            yield fields
            continue
        passwords += 1
        yield rules.too_many_passwords() if passwords > rules.MAX_PASSWORDS else fields
