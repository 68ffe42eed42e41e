"""The OpenAPI description of the bulk calls, and of the move of a domain with its links."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction, extend_schema_field
from rest_framework.fields import DictField

from accounts import admission
from accounts.caps import CapReached
from common.errors import InvalidFields
from common.openapi.error_examples import FIELD_ERROR, MORE_ERRORS, RETRY_AFTER, invalid
from common.openapi.operations import Operation, annotate, describe
from common.openapi.responses import WARNINGS, Field, Representation, count, flag, number, text
from domains.representations import moved_domain
from domains.services import PlanWithoutDomains
from links.bulk.moving import SameWorkspace, SourceBanned
from links.bulk.moving_domains import ClaimedThere
from links.bulk.serializers import (
    EITHER,
    BulkCreateSerializer,
    BulkUpdateSerializer,
    ChangesField,
    ItemField,
    LinkChangesSerializer,
)
from links.bulk.services import MAX_ITEMS, NothingDeleted
from links.errors import VALUES_TAKEN
from links.existing import TOO_MANY_TO_COMPARE
from links.representations import CREATED_URL, DELETED_URL, MOVED_URL, UPDATED_URL
from links.rules import MAX_PASSWORDS
from links.storage.quotas import QuotaExceeded

ID = "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"
OWN_IDS = "a list with the `_id` of each URL"
_EACH = (
    "Each item follows the rules of the single call, in the order of the request, and has its own result. Items"
    f" fail independently. Sets at most {MAX_PASSWORDS} passwords. An account can have at most"
    f" {admission.PER_ACCOUNT} bulk calls running at once."
)

_UNCHECKED = "Accepted, because the result of an invalid item describes its errors."


@extend_schema_field(
    {"type": "object", "additionalProperties": {}, "description": _UNCHECKED},
    component_name="UncheckedObject",
)
class _UncheckedObject(DictField):
    pass


extend_schema_field(
    {
        "type": ["array", "string", "number", "boolean", "null"],
        "items": {},
        "description": _UNCHECKED,
    },
    component_name="UncheckedItem",
)(ItemField)


def _one_of(*components: str) -> dict[str, Any]:
    return {"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in components]}


annotate(
    BulkCreateSerializer,
    {"urls": {"items": _one_of("CreateLinkRequest", "UncheckedObject", "UncheckedItem")}},
)
annotate(
    BulkUpdateSerializer,
    {"urls": {"items": _one_of("LinkChangesRequest", "UncheckedObject", "UncheckedItem")}},
)


class _ChangesExtension(OpenApiSerializerFieldExtension):
    target_class = ChangesField

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        # No endpoint has these changes as its whole body, which would describe them.
        auto_schema.resolve_serializer(LinkChangesSerializer, direction)
        # Registers the component.
        auto_schema._map_serializer_field(_UncheckedObject(), direction)
        return _one_of("LinkChangesRequest", "UncheckedObject")


def results(name: str, key: Field, url: Representation, *, status: int = 200) -> list[Field]:
    """One result per link, identified by ``key``, and the numbers of successes and failures."""
    result = Representation(
        f"{name}Result",
        key,
        flag("success", None, True),
        number("status", None, status, "The status that the single call would return."),
        url.nested("url", required=False),
        text("message", None, help_text="Only for a failed item: a sentence for people.", required=False),
        text("code", None, help_text="Only for a failed item: the reason for programs.", required=False),
        FIELD_ERROR.listed("errors", required=False)._replace(example=...),
        MORE_ERRORS,
        RETRY_AFTER,
        *WARNINGS,
    )
    return [result.listed("results"), count("succeeded", example=1), count("failed")]


_INDEX = count("index", help_text="The position in the request, from 0.")
CREATED = results("CreateUrls", _INDEX, CREATED_URL, status=201)
UPDATED = results("UpdateUrls", _INDEX, UPDATED_URL)
DELETED = results("DeleteUrls", _INDEX, DELETED_URL)
MOVED = results("MoveUrls", _INDEX, MOVED_URL)
_RETURNS = "One result per link, in the order of the request."

describe_bulk = describe(
    "Links",
    bulk_create=Operation(
        "createUrls",
        f"Create up to {MAX_ITEMS} short links.",
        _RETURNS,
        description=f"{_EACH} With `findIfExists`, an item that equals a link, or an earlier item, has the status 200"
        " and this link.",
        examples=[
            {"urls": [{"originalUrl": "https://example.com/", "title": "Spring sale"}]},
            {"urls": [{"originalUrl": "https://example.com/", "findIfExists": True}]},
        ],
        errors=[invalid("urls"), InvalidFields([TOO_MANY_TO_COMPARE]), admission.TOO_MANY_CALLS],
    ),
    bulk_update=Operation(
        "updateUrls",
        f"Change up to {MAX_ITEMS} short links.",
        _RETURNS,
        description=f"Send the same changes for all links, or separate changes for each. {_EACH}",
        examples=[
            {"ids": [ID], "data": {"isActive": False, "addTags": ["spring"]}},
            {"urls": [{"_id": ID, "title": "Spring sale"}]},
        ],
        placeholders={"ids": OWN_IDS, "_id": "the `_id` of one of your URLs"},
        errors=[invalid("urls", "ambiguous", EITHER), admission.TOO_MANY_CALLS],
    ),
    bulk_delete=Operation(
        "deleteUrls",
        f"Delete up to {MAX_ITEMS} short links.",
        _RETURNS,
        description="Items fail independently. If no URL is found, the response is 404 and has the results, too.",
        examples=[{"ids": [ID]}],
        placeholders={"ids": OWN_IDS},
        errors=[invalid("ids"), NothingDeleted(), admission.TOO_MANY_CALLS],
    ),
    move=Operation(
        "moveUrls",
        f"Move up to {MAX_ITEMS} short links to another workspace.",
        _RETURNS,
        description="The role is needed in both workspaces. The links keep their short URLs, clicks, reports and QR"
        " codes, and count towards the monthly quota of the other workspace. A link on a custom domain moves only with"
        " its domain. Items fail independently, but more QR codes than a workspace can have fail the whole call.",
        examples=[{"ids": [ID], "workspaceId": "01a1fa86-5c3e-7f10-8d44-6a2b9c0e7f81"}],
        placeholders={"ids": OWN_IDS, "workspaceId": "the `_id` of the other workspace"},
        errors=[
            invalid("ids"),
            SameWorkspace(),
            SourceBanned(),
            CapReached(100_000, "QR codes"),
            admission.TOO_MANY_CALLS,
        ],
    ),
)

MOVED_DOMAIN = (moved_domain.nested("domain"), count("links", help_text="The number of its links."))

describe_domain_move = describe(
    "Domains",
    of="domain",
    create=Operation(
        "moveDomain",
        "Move a domain to another workspace, with all its links.",
        "The domain, and the number of its links.",
        description="The role is needed in both workspaces. The domain stays verified, and the links keep their"
        " short URLs, clicks, reports and QR codes; they count towards the monthly quota of the other workspace. Keys"
        " of the former workspace that are limited to the domain are deleted. All of it moves, or nothing.",
        examples=[{"workspaceId": "01a1fa86-5c3e-7f10-8d44-6a2b9c0e7f81"}],
        placeholders={"workspaceId": "the `_id` of the other workspace"},
        errors=[
            SameWorkspace(),
            SourceBanned(),
            PlanWithoutDomains(),
            CapReached(100, "domains"),
            ClaimedThere(),
            *VALUES_TAKEN,
            QuotaExceeded(604_800, limit=1_000, window=2_592_000),
            admission.TOO_MANY_CALLS,
        ],
    ),
)
