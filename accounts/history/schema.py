"""The OpenAPI description of /api/audit."""

from __future__ import annotations

from accounts.history.reading import BAD_CURSOR
from accounts.history.representations import CHANGE_PAGE
from accounts.history.serializers import NO_ID
from common.errors import InvalidFields
from common.http.current_request import Via
from common.openapi.enumerations import name_choices
from common.openapi.operations import Operation, describe
from common.openapi.refusals import invalid

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
        data=CHANGE_PAGE,
        refusals=[
            InvalidFields([BAD_CURSOR]),
            *(invalid(field, "id", NO_ID) for field in ("actor", "object")),
        ],
    ),
)
