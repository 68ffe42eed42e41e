"""The OpenAPI description of the history of a link."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter

from accounts.history import BAD_CURSOR
from common.errors import InvalidFields, NotFound
from common.openapi.operations import Operation, describe
from links.errors import CodeTaken
from links.history.services import NotRestorable
from links.schema import BAD_FIELDS
from links.storage.deletion import UNDELETE_DAYS

describe_history = describe(
    "History",
    of="URL",
    history=Operation(
        "listUrlChanges",
        "List the changes of a short link, newest first.",
        "One page; more pages follow as long as `nextCursor` is not null.",
        description="Also for a deleted link. The creation of a link is not recorded. A password appears as `set` or"
        " `removed`. Changes older than the retention period are deleted.",
        errors=[InvalidFields([BAD_CURSOR])],
    ),
    undelete=Operation(
        "undeleteUrl",
        "Bring a deleted short link back.",
        "The link as it was, with its codes, clicks, reports and QR codes.",
        description=f"Within {UNDELETE_DAYS} days of the deletion. If its domain has been deleted since, the link"
        " moves to the default domain, and loses a custom code that is taken there.",
        errors=[CodeTaken("spring")],
    ),
    restore=Operation(
        "restoreUrlChange",
        "Set the fields of a change to their former values.",
        "The title, the tags, `isActive`, and the restored fields.",
        description="An update with the `before` of the change, which the history records as a new change. Other"
        " fields keep their values. A former password and a domain cannot be restored; `warnings` names them.",
        parameters=[
            OpenApiParameter(
                "changeId", str, OpenApiParameter.PATH, description="The `_id` of a change of the URL."
            )
        ],
        errors=[NotFound("Change not found."), NotRestorable(), CodeTaken("spring"), *BAD_FIELDS],
    ),
)
