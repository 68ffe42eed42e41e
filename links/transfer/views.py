from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.admission import costly_call
from accounts.api_requests.idempotency import respond_once, takes_key, valid_name
from accounts.callers import account_of, author_of, caller_of, workspace_of
from accounts.downloads import Download
from accounts.history import record_change
from accounts.password_hashing import link_hashing
from accounts.rights import Role, Scope
from common.http.client_address import address_of_client
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.returns import returns
from links.bulk.serializers import ImportParser
from links.guess_counts import refuse_above_guess_limit
from links.searches import filters_of
from links.standby_reads import reads_standby
from links.transfer.exports import CONTENT_TYPES, ExportFormat, export_links, export_selected_links
from links.transfer.imports import import_content, import_results, withhold_guesses
from links.transfer.schema import IMPORTED, describe_transfers
from links.transfer.sealed_passwords import Sealer
from links.transfer.serializers import (
    ExportQuery,
    ImportSerializer,
    SealedExportSerializer,
    SelectedExportSerializer,
)


@describe_transfers
class TransferViewSet(ApiViewSet):
    queries = {"export_urls": ExportQuery, "export_sealed": ExportQuery}
    access = {
        "import_urls": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
        "export_urls": Access(Role.VIEWER, Scope.URLS_READ, limited=True),
        # Whoever has a hash can try passwords without limit, at home.
        "export_sealed": Access(Role.ADMIN, None),
        "export_selected": Access(Role.VIEWER, Scope.URLS_READ, limited=True),
    }
    bodies = {
        "import_urls": ImportSerializer,
        "export_sealed": SealedExportSerializer,
        "export_selected": SelectedExportSerializer,
    }

    def before_body(self, request: Request) -> None:
        if self.action == "import_urls":
            self.request_stack.enter_context(costly_call(caller_of(request).id))

    @action(detail=False, methods=["post"], url_path="import", parser_classes=[ImportParser])
    @takes_key
    @returns(200, "1 of 1 URLs can be imported; nothing was written.", fields=IMPORTED)
    def import_urls(self, request: Request) -> dict[str, Any] | Response:
        fields = self.read_body()
        owner, address = workspace_of(request), address_of_client(request)
        refuse_above_guess_limit(address)

        def run_import() -> dict[str, Any]:
            imported = import_content(owner=owner, creator=author_of(request), **fields)
            return import_results(withhold_guesses(imported, owner=owner, address=address))

        # A dry run writes nothing, so repeating it is safe; its response can be megabytes long.
        if fields["dry_run"]:
            valid_name(request)
            return run_import()
        return respond_once(request, lambda: self.import_urls.returned.response(run_import()))  # type: ignore[attr-defined] # of `returns`

    @action(detail=False, url_path="export")
    @reads_standby
    def export_urls(self, request: Request) -> StreamingHttpResponse:
        # The server never reads or closes the stream of a HEAD response, so an export would keep its place.
        return self._export(request, self.read_query(), has_content=request.method == "GET")

    @action(detail=False, methods=["post"], url_path="sealed-export")
    def export_sealed(self, request: Request) -> StreamingHttpResponse:
        options, passphrase = self.read_query(), self.read_body()["passphrase"]
        with link_hashing.admit(f"account {account_of(request).pk}"):
            sealer = Sealer(passphrase)
        owner = workspace_of(request)
        record_change(owner_id=owner.pk, object_id=owner.public_id, action="workspace.passwords_exported")
        return self._export(request, options, sealer=sealer)

    def _export(
        self,
        request: Request,
        options: dict[str, Any],
        *,
        sealer: Sealer | None = None,
        has_content: bool = True,
    ) -> StreamingHttpResponse:
        file_format = ExportFormat(options.pop("file_format"))
        owner = workspace_of(request)
        chunks: Iterable[bytes] = ()
        if has_content:
            links = export_links(owner, file_format=file_format, filters=filters_of(options), sealer=sealer)
            chunks = Download(links, workspace=owner.pk, account=caller_of(request).id)
        response = StreamingHttpResponse(chunks, content_type=CONTENT_TYPES[file_format])
        response["Content-Disposition"] = _disposition(file_format)
        return response

    @action(detail=False, methods=["post"], url_path="bulk-export")
    def export_selected(self, request: Request) -> HttpResponse:
        fields = self.read_body()
        file_format = ExportFormat(fields["file_format"])
        chunks = export_selected_links(
            workspace_of(request), public_ids=fields["ids"], file_format=file_format
        )
        response = HttpResponse(b"".join(chunks), content_type=CONTENT_TYPES[file_format])
        response["Content-Disposition"] = _disposition(file_format)
        return response


def _disposition(file_format: ExportFormat) -> str:
    return f'attachment; filename="urls-{timezone.now():%Y-%m-%d}.{file_format}"'
