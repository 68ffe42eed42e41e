from __future__ import annotations

from django.http import StreamingHttpResponse
from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import account_of
from accounts.idempotency import idempotent
from common.api import ApiViewSet
from links import verdicts
from links.bulk_parsers import ImportParser
from links.downloads import Download
from links.exports import CONTENT_TYPES, ExportFormat, export_links
from links.imports.serializers import ImportSerializer
from links.imports.services import import_content
from links.serializers import ExportQuery
from links.transfer_schema import describe_transfers


@describe_transfers
class TransferViewSet(ApiViewSet):
    @action(detail=False, methods=["post"], url_path="import", parser_classes=[ImportParser])
    @idempotent
    def import_urls(self, request: Request) -> Response:
        body = ImportSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return verdicts.answer_import(import_content(owner=account_of(request), **body.validated_data))

    @action(detail=False, url_path="export")
    def export_urls(self, request: Request) -> StreamingHttpResponse:
        query = ExportQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        asked = query.validated_data
        chosen = ExportFormat(asked["file_format"])
        # Of HEAD nobody reads anything, and nobody closes what nobody reads.
        wants_content = request.method == "GET"
        pieces = Download(export_links(account_of(request), **asked)) if wants_content else ()
        response = StreamingHttpResponse(pieces, content_type=CONTENT_TYPES[chosen])
        response["Content-Disposition"] = f'attachment; filename="urls-{timezone.now():%Y-%m-%d}.{chosen}"'
        return response
