from __future__ import annotations

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import account_of
from accounts.idempotency import idempotent
from common.api import ApiViewSet
from links import bulk, representations, verdicts
from links.bulk_parsers import BulkParser
from links.bulk_schema import describe_bulk
from links.bulk_serializers import (
    BulkCreateSerializer,
    BulkDeleteSerializer,
    BulkUpdateSerializer,
    UpdateItemSerializer,
    judged,
)
from links.serializers import CreateLinkSerializer


@describe_bulk
class BulkViewSet(ApiViewSet):
    @action(detail=False, methods=["post"], url_path="bulk", parser_classes=[BulkParser])
    @idempotent
    def bulk_create(self, request: Request) -> Response:
        body = BulkCreateSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        items = judged(CreateLinkSerializer(), body.validated_data["urls"])
        outcomes = bulk.create_links(owner=account_of(request), items=items)
        return verdicts.answer(
            outcomes, lambda _, link: representations.created_link(link), done="created", status=201
        )

    @action(detail=False, methods=["post"], url_path="bulk-update", parser_classes=[BulkParser])
    def bulk_update(self, request: Request) -> Response:
        body = BulkUpdateSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        sent = body.validated_data["urls"]
        items = judged(UpdateItemSerializer(), sent)
        outcomes = bulk.update_links(owner=account_of(request), items=items)
        return verdicts.answer(
            outcomes,
            lambda place, link: representations.updated_link(link, set(sent[place]) - {"_id"}),
            done="updated",
        )

    @action(detail=False, methods=["post"], url_path="bulk-delete")
    def bulk_delete(self, request: Request) -> Response:
        body = BulkDeleteSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        outcomes = bulk.delete_links(owner=account_of(request), public_ids=body.validated_data["ids"])
        return verdicts.answer(outcomes, lambda _, public_id: {"_id": str(public_id)}, done="deleted")
