"""The API of the log of requests: its query, its entries, its description and its view."""

from __future__ import annotations

import re
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework.fields import FloatField
from rest_framework.request import Request

from accounts.callers import workspace_of
from accounts.models import LoggedRequest
from accounts.representations import CURSOR_PAGE
from accounts.request_log.store import BAD_CURSOR, MAX_KEPT, list_requests
from accounts.rights import Role
from accounts.serializers import NO_ID, HistoryQuery, IdField
from common.error_catalogue import CATALOGUE, docs_address
from common.errors import InvalidFields
from common.openapi.error_examples import invalid
from common.openapi.operations import Operation, describe
from common.openapi.responses import Field, Representation, identifier, moment, number, text
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.fields import Text
from common.rest.returns import returns

_STATUS = re.compile(r"[1-5](?:[0-9]{2}|xx)", re.ASCII)
NO_STATUS = "Must be a status such as 404, or a class such as 4xx."


@extend_schema_field({"type": "string", "pattern": f"^{_STATUS.pattern}$"})
class _Status(Text):
    default_error_messages = {"status": NO_STATUS}

    def to_internal_value(self, data: Any) -> tuple[int, int]:  # type: ignore[override] # the first and the last status
        status = super().to_internal_value(data)
        if _STATUS.fullmatch(status) is None:
            self.fail("status")
        return int(status.replace("xx", "00")), int(status.replace("xx", "99"))


class RequestQuery(HistoryQuery):
    key = IdField(
        required=False, characters=36, help_text="The `_id` of a key with scopes; it may be deleted."
    )
    status = _Status(required=False, characters=3, help_text="Such as `404`, or `4xx`.")
    route = Text(required=False, characters=200, help_text="As in `route`: `/api/urls/{id}`.")


def _docs(logged: LoggedRequest) -> str | None:
    return docs_address(logged.code) if logged.code in CATALOGUE else None


LOGGED_REQUEST = Representation(
    "RequestLogEntry",
    moment("respondedAt", "responded_at", "2030-03-02T17:05:41.654321Z"),
    identifier("requestId", "request_id", "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b76"),
    text(
        "keyId",
        "key_id",
        "01a1fa86-b41c-7e0d-93a5-7c2f1d8e6b90",
        "The `_id` of the key with scopes; it may be deleted. Null: an account's own key.",
        allow_null=True,
    ),
    text("method", "method", "PUT"),
    text("route", "route", "/api/urls/{id}", "The path of the description, without its values."),
    number("status", "status", 404),
    text("code", "code", "not_found", "The `code` of the error. Null without an error.", allow_null=True),
    text("docs", _docs, docs_address("not_found"), "The page about the error.", allow_null=True),
    Field("milliseconds", "milliseconds", FloatField(help_text="How long the service took."), 3.4),
)

describe_requests = describe(
    "History",
    list=Operation(
        "listRequests",
        "List the API requests of the workspace's keys, those stored last first.",
        "One page; more pages follow as long as `nextCursor` is not null.",
        description="Requests by API key in this workspace, some seconds after their responses: each worker stores"
        " its latest at once, so requests of some seconds can be out of order. Those of tokens and"
        " refused credentials are not in the list. It has neither bodies nor addresses nor queries. Filters combine."
        f" Of a workspace, the newest {MAX_KEPT} are kept, for as many days as the operator says (by default 30). A"
        " host that is overloaded or loses its database may leave requests out.",
        errors=[
            InvalidFields([BAD_CURSOR]),
            invalid("key", "id", NO_ID),
            invalid("status", "status", NO_STATUS),
        ],
    ),
)


@describe_requests
class RequestLogViewSet(ApiViewSet):
    queries = {"list": RequestQuery}
    # The list has requests of all keys, so no scope covers it.
    access = {"list": Access(Role.ADMIN, None)}

    @returns(200, fields=(LOGGED_REQUEST.listed("requests"), CURSOR_PAGE.nested("pagination")))
    def list(self, request: Request) -> dict[str, Any]:
        query = self.read_query()
        page = list_requests(workspace_of(request), **query)
        return {
            "requests": list(map(LOGGED_REQUEST, page.requests)),
            "pagination": {"limit": query["limit"], "nextCursor": page.next_cursor},
        }
