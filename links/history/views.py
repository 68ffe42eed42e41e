from __future__ import annotations

from datetime import datetime
from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request

from accounts.callers import account_of, workspace_of
from accounts.history import CHANGE_PAGE, change_page
from accounts.rights import Role, Scope
from accounts.serializers import HistoryQuery
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.envelope import warn
from common.rest.returns import returns
from links import representations
from links.history.schema import describe_history
from links.history.services import link_history, restore_change
from links.services import undelete_link


@describe_history
class LinkHistoryViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    queries = {"history": HistoryQuery}
    # The first two also concern deleted links, which the limits of keys do not cover.
    access = {
        "history": Access(Role.VIEWER, Scope.URLS_READ),
        "undelete": Access(Role.EDITOR, Scope.URLS_WRITE),
        "restore": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
    }

    @action(detail=True)
    @returns(200, fields=CHANGE_PAGE)
    def history(self, request: Request, id: str) -> dict[str, Any]:
        query = self.read_query()
        page = link_history(workspace_of(request), id, **query)
        return change_page(page, query["limit"])

    @action(detail=True, methods=["post"])
    @returns(200, "URL restored successfully.", url=representations.WHOLE_URL, has_etag=True)
    def undelete(self, request: Request, id: str) -> tuple[dict[str, Any], datetime]:
        owner = workspace_of(request)
        link = undelete_link(owner=owner, public_id=id)
        return {"url": representations.whole_link(link, owner, account_of(request))}, link.updated_at

    @action(detail=True, methods=["post"], url_path="history/<str:changeId>/restore")
    @returns(200, "Change restored successfully.", url=representations.UPDATED_URL, has_etag=True)
    def restore(self, request: Request, id: str, changeId: str) -> tuple[dict[str, Any], datetime]:
        restored = restore_change(owner=workspace_of(request), public_id=id, change_id=changeId)
        for name in sorted(restored.skipped):
            warn(request, name, "not_restored", "The history has no value that can be restored.")
        shown = representations.updated_link(restored.link, restored.names)
        return {"url": shown}, restored.link.updated_at
