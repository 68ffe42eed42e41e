"""The endpoint of a workspace's history, and its description."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request

from accounts.callers import workspace_of
from accounts.history import BAD_CURSOR, CHANGE_PAGE, change_page, list_changes
from accounts.rights import Role
from common.errors import InvalidFields
from common.http.current_request import Via
from common.ids import parse_public_id
from common.openapi.error_examples import invalid
from common.openapi.operations import Operation, describe, name_choices
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.fields import QueryInteger, Text
from common.rest.pagination import DEFAULT_LIMIT, MAX_LIMIT
from common.rest.returns import returns

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


name_choices("Via", [via.value for via in Via])

describe_audit = describe(
    "History",
    list=Operation(
        "listChanges",
        "List the changes of all objects of the workspace, newest first.",
        "One page; more pages follow as long as `nextCursor` is not null.",
        description="Changes of links, domains, keys, members, invitations, the workspace, sessions and the account:"
        " who changed what, and when. The creation of a link is not recorded. Filters combine. Passwords appear"
        " as `set` or `removed`, and addresses not at all. Changes older than the retention period are deleted.",
        errors=[
            InvalidFields([BAD_CURSOR]),
            *(invalid(field, "id", NO_ID) for field in ("actor", "object")),
        ],
    ),
)


@describe_audit
class AuditViewSet(ApiViewSet):
    queries = {"list": AuditQuery}
    # The list has changes of every kind, so no scope covers it.
    access = {"list": Access(Role.ADMIN, None)}

    @returns(200, fields=CHANGE_PAGE)
    def list(self, request: Request) -> dict[str, Any]:
        query = self.read_query()
        page = list_changes(workspace_of(request), **query)
        return change_page(page, query["limit"])
