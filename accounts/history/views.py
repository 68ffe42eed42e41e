from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.callers import workspace_of
from accounts.history.reading import list_changes
from accounts.history.representations import change_page
from accounts.history.schema import describe_audit
from accounts.history.serializers import AuditQuery
from accounts.rights import Role
from common.rest.api import ApiViewSet
from common.rest.envelope import ok


@describe_audit
class AuditViewSet(ApiViewSet):
    queries = {"list": AuditQuery}
    roles = {"list": Role.ADMIN}
    # It has changes of every kind, so no scope covers it.
    scopes = {"list": None}

    def list(self, request: Request) -> Response:
        query = self.read_query()
        page = list_changes(workspace_of(request), **query)
        return ok(change_page(page, query["limit"]))
