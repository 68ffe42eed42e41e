from __future__ import annotations

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api_requests.idempotency import idempotent
from accounts.callers import account_of, workspace_of
from accounts.capacity.concurrency import costly_call
from accounts.rights.roles import Role
from accounts.rights.scopes import Scope
from common.rest.api import ApiViewSet
from links import representations
from links.bulk import services as bulk
from links.bulk import verdicts
from links.bulk.moving import move_links
from links.bulk.schema import describe_bulk
from links.bulk.serializers import (
    BulkCreateSerializer,
    BulkDeleteSerializer,
    BulkParser,
    BulkUpdateSerializer,
    ItemReader,
    MoveSerializer,
    UpdateItemSerializer,
)
from links.serializers import CreateLinkSerializer


@describe_bulk
class BulkViewSet(ApiViewSet):
    roles = dict.fromkeys(("bulk_create", "bulk_update", "bulk_delete", "move"), Role.EDITOR)
    # A key belongs to one workspace, so it cannot move links to another.
    scopes = {**dict.fromkeys(("bulk_create", "bulk_update", "bulk_delete"), Scope.URLS_WRITE), "move": None}
    limited_keys = ("bulk_create", "bulk_update", "bulk_delete")
    bodies = {
        "bulk_create": BulkCreateSerializer,
        "bulk_update": BulkUpdateSerializer,
        "bulk_delete": BulkDeleteSerializer,
        "move": MoveSerializer,
    }

    def before_body(self, request: Request) -> None:
        self.request_stack.enter_context(costly_call(account_of(request)))

    @action(detail=False, methods=["post"], url_path="bulk", parser_classes=[BulkParser])
    @idempotent
    def bulk_create(self, request: Request) -> Response:
        reader = ItemReader(self.handling, BulkCreateSerializer)
        items = reader.read(CreateLinkSerializer(), self.read_body()["urls"])
        outcomes = bulk.create_links(owner=workspace_of(request), creator=account_of(request), items=items)
        return verdicts.bulk_response(
            outcomes,
            lambda _, link: representations.created_link(link),
            done="created",
            warnings=reader.warnings,
            status=201,
        )

    @action(detail=False, methods=["post"], url_path="bulk-update", parser_classes=[BulkParser])
    def bulk_update(self, request: Request) -> Response:
        sent, reader = self.read_body(), ItemReader(self.handling, BulkUpdateSerializer)
        if "urls" in sent:
            items = reader.read(UpdateItemSerializer(), sent["urls"])
        else:
            items = reader.read_for_all(sent["ids"], sent["data"])
            shared = _without_id(sent["data"])
        outcomes = bulk.update_links(owner=workspace_of(request), items=items)
        return verdicts.bulk_response(
            outcomes,
            lambda position, link: representations.updated_link(
                link, _without_id(sent["urls"][position]) if "urls" in sent else shared
            ),
            done="updated",
            warnings=reader.warnings,
        )

    @action(detail=False, methods=["post"], url_path="bulk-delete")
    def bulk_delete(self, request: Request) -> Response:
        outcomes = bulk.delete_links(owner=workspace_of(request), public_ids=self.read_body()["ids"])
        response = verdicts.bulk_response(
            outcomes, lambda _, public_id: {"_id": str(public_id)}, done="deleted"
        )
        if response.data["data"]["succeeded"] == 0:
            raise verdicts.NothingDeleted(response.data["data"])
        return response

    @action(detail=False, methods=["post"])
    def move(self, request: Request) -> Response:
        sent = self.read_body()
        outcomes = move_links(
            source=workspace_of(request),
            target_id=sent["target_id"],
            actor=account_of(request),
            public_ids=sent["ids"],
        )
        return verdicts.bulk_response(outcomes, lambda _, public_id: {"_id": str(public_id)}, done="moved")


def _without_id(sent: dict[str, Any]) -> set[str]:
    """The names of the sent fields."""
    return sent.keys() - {"_id"}
