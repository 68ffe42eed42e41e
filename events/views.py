from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from accounts.callers import workspace_of
from accounts.rights import Role, Scope
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.returns import returns
from events.feed import collect, collected_types, read_feed
from events.representations import FEED_PAGE, feed, shown_page
from events.schema import describe_feed
from events.serializers import FeedQuery, FeedSerializer


@describe_feed
class EventViewSet(ApiViewSet):
    # As webhooks: everything that happens in the workspace.
    access = dict.fromkeys(("list", "retrieve", "update"), Access(Role.ADMIN, Scope.WEBHOOKS_WRITE))
    queries = {"list": FeedQuery}
    bodies = {"update": FeedSerializer}

    @returns(200, fields=FEED_PAGE)
    def list(self, request: Request) -> dict[str, Any]:
        owner, query = workspace_of(request), self.read_query()
        page = read_feed(owner, after=query.get("after"), types=query.get("types"), limit=query["limit"])
        return shown_page(page, owner)

    @returns(200, feed=feed)
    def retrieve(self, request: Request) -> dict[str, Any]:
        return {"feed": {"types": collected_types(workspace_of(request))}}

    @returns(200, "Feed updated successfully.", feed=feed)
    def update(self, request: Request) -> dict[str, Any]:
        owner = workspace_of(request)
        collect(owner, list(dict.fromkeys(self.read_body()["types"])))
        return {"feed": {"types": collected_types(owner)}}
