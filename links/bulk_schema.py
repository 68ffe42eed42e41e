"""The OpenAPI description of the calls with many links."""

from __future__ import annotations

from functools import partial
from typing import Any

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema_field,
    extend_schema_view,
)
from rest_framework.fields import BooleanField, CharField, IntegerField
from rest_framework.serializers import Serializer

from accounts import idempotency
from common.schema import (
    BAD_BODIES,
    FIELD_ERROR,
    NO_CREDENTIAL,
    Part,
    Parts,
    annotate,
    answer,
    bad_bodies,
    invalid,
    nested,
    nested_list,
    operation,
)
from links.bulk import MAX_ITEMS
from links.bulk_parsers import BulkParser
from links.bulk_serializers import (
    EITHER,
    BulkCreateSerializer,
    BulkDeleteSerializer,
    BulkUpdateSerializer,
    ObjectField,
)
from links.rules import MAX_PASSWORDS
from links.schema import NEW_URL, UPDATED_URL, URL_ID

_operation = partial(operation, tag="Links")
_INDEX = Part(IntegerField(min_value=0, help_text="Its place among those sent, from 0."), 0)
_ID = "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"
_EACH = (
    "Each is judged by the rules of the single call, in the order given, and has a result of its own: what is wrong"
    f" with one is no matter of the others. Sets at most {MAX_PASSWORDS} passwords."
)

extend_schema_field({"type": "object", "additionalProperties": {}})(ObjectField)


def _items(component: str) -> dict[str, Any]:
    """Any object is taken: what is wrong with it is told in its result."""
    return {"items": {"anyOf": _either(component)}}


def _either(component: str) -> list[dict[str, Any]]:
    return [{"$ref": f"#/components/schemas/{component}"}, {"type": "object"}]


annotate(BulkCreateSerializer, {"urls": _items("CreateLinkRequest")})
annotate(BulkDeleteSerializer, {"ids": {"description": "The `_id` of each URL."}})
annotate(
    BulkUpdateSerializer,
    {
        "ids": {"description": "The `_id` of each URL that is to be changed as `data` says."},
        "data": {"anyOf": _either("UpdateLinkRequest")},
        "urls": {
            **_items("UpdateLinkRequest"),
            "description": "Instead of `ids` and `data`: for each URL its `_id` and its own changes.",
        },
    },
)


def results(name: str, number: Part, url: Part, *, at: str = "index", status: int = 200) -> Parts:
    """A result for each, known by its number, and how many of each kind there are."""
    result: Parts = {
        at: number,
        "success": Part(BooleanField(), True),
        "status": Part(IntegerField(help_text="What the single call would have answered."), status),
        "url": Part(type(url.field)(required=False), url.example),
        "message": Part(CharField(required=False, help_text="Of a refusal: one sentence for people.")),
        "code": Part(CharField(required=False, help_text="Of a refusal: the reason, for programs.")),
        "errors": Part(FIELD_ERROR(many=True, required=False)),
    }
    return {
        "results": nested_list(f"{name}Result", result),
        "succeeded": Part(IntegerField(min_value=0), 1),
        "failed": Part(IntegerField(min_value=0), 0),
    }


def _answer(name: str, url: Part, done: str, *, status: int = 200) -> OpenApiResponse:
    return answer(
        name,
        "A result for each, in the order given.",
        f"1 of 1 URLs {done}.",
        data=results(name, _INDEX, url, status=status),
    )


def _body(serializer: type[Serializer[Any]], *examples: dict[str, Any]) -> OpenApiRequest:
    return OpenApiRequest(
        serializer, examples=[OpenApiExample(f"Example {n}", each) for n, each in enumerate(examples, 1)]
    )


describe_bulk = extend_schema_view(
    bulk_create=_operation(
        "createUrls",
        f"Create up to {MAX_ITEMS} short links.",
        _answer("CreateUrls", NEW_URL, "created", status=201),
        [invalid("urls"), *bad_bodies(BulkParser.max_bytes), NO_CREDENTIAL, *idempotency.REFUSALS],
        is_idempotent=True,
        body=_body(
            BulkCreateSerializer, {"urls": [{"originalUrl": "https://example.com/", "customCode": "spring"}]}
        ),
        description=_EACH,
    ),
    bulk_update=_operation(
        "updateUrls",
        f"Change up to {MAX_ITEMS} short links.",
        _answer("UpdateUrls", UPDATED_URL, "updated"),
        [invalid("urls", "ambiguous", EITHER), *bad_bodies(BulkParser.max_bytes), NO_CREDENTIAL],
        body=_body(
            BulkUpdateSerializer,
            {"ids": [_ID], "data": {"isActive": False}},
            {"urls": [{"_id": _ID, "title": "Spring sale"}]},
        ),
        description=f"The same for all, or for each its own. {_EACH}",
    ),
    bulk_delete=_operation(
        "deleteUrls",
        f"Delete up to {MAX_ITEMS} short links.",
        _answer("DeleteUrls", nested("DeletedUrl", URL_ID), "deleted"),
        [invalid("ids"), *BAD_BODIES, NO_CREDENTIAL],
        body=_body(BulkDeleteSerializer, {"ids": [_ID]}),
        description="What is wrong with one is no matter of the others.",
    ),
)
