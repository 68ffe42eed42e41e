from __future__ import annotations

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request

from accounts.admission import costly_call
from accounts.callers import caller_of, workspace_of
from accounts.rights import Role, Scope
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.pagination import PageQuery
from common.rest.returns import returns
from links.schema import PAGINATION
from links.tags import changes, listing
from links.tags.listing import tag_in_path
from links.tags.representations import shown_tag, tag, tag_change
from links.tags.schema import describe_tag_changes, describe_tags
from links.tags.serializers import UpdateTagSerializer


@describe_tags
class TagViewSet(ApiViewSet):
    """Their list is in `analytics.tags`, which knows the clicks of a period."""

    lookup_field = "name"
    lookup_url_kwarg = "name"
    lookup_value_converter = "str"
    access = {
        "retrieve": Access(Role.VIEWER, Scope.URLS_READ),
        "partial_update": Access(Role.EDITOR, Scope.URLS_WRITE),
        "destroy": Access(Role.EDITOR, Scope.URLS_WRITE),
    }
    bodies = {"partial_update": UpdateTagSerializer}

    def before_body(self, request: Request) -> None:
        if self.action in ("partial_update", "destroy"):
            self.request_stack.enter_context(costly_call(caller_of(request).id))

    @returns(200, tag=tag)
    def retrieve(self, request: Request, name: str) -> dict[str, Any]:
        return {"tag": shown_tag(listing.get_tag(workspace_of(request), tag_in_path(name)))}

    @returns(200, "Tag updated successfully.", tag=tag, change=tag_change.nested("change", allow_null=True))
    def partial_update(self, request: Request, name: str) -> dict[str, Any]:
        changed = changes.change_tag(workspace_of(request), tag_in_path(name), **self.read_body())
        change = None if changed.change is None else tag_change(changed.change)
        return {"tag": shown_tag(changed.tag), "change": change}

    @returns(200, "Tag deleted successfully.", change=tag_change)
    def destroy(self, request: Request, name: str) -> dict[str, Any]:
        change = changes.delete_tag(workspace_of(request), tag_in_path(name))
        return {"change": tag_change(change)}


@describe_tag_changes
class TagChangeViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    queries = {"list": PageQuery}
    access = {
        "list": Access(Role.VIEWER, Scope.URLS_READ),
        "retrieve": Access(Role.VIEWER, Scope.URLS_READ),
        "undo": Access(Role.EDITOR, Scope.URLS_WRITE),
    }

    def before_body(self, request: Request) -> None:
        if self.action == "undo":
            self.request_stack.enter_context(costly_call(caller_of(request).id))

    @returns(200, changes=[tag_change], pagination=PAGINATION)
    def list(self, request: Request) -> dict[str, Any]:
        window = self.window(self.read_query())
        page = changes.list_changes(workspace_of(request), window)
        shown = [tag_change(change) for change in page.rows]
        return {"changes": shown, "pagination": self.paginate(page, window)}

    @returns(200, change=tag_change)
    def retrieve(self, request: Request, id: str) -> dict[str, Any]:
        return {"change": tag_change(changes.get_change(workspace_of(request), id))}

    @action(detail=True, methods=["post"])
    @returns(200, "Tag restored successfully.", change=tag_change)
    def undo(self, request: Request, id: str) -> dict[str, Any]:
        return {"change": tag_change(changes.undo_change(workspace_of(request), id))}
