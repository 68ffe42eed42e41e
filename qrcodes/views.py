from __future__ import annotations

from functools import partial
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header, http_date
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.admission import costly_call
from accounts.api_requests.idempotency import idempotent
from accounts.callers import caller_of, workspace_of
from accounts.rights import Role, Scope
from common.http.client_address import address_of_client, client_network, customer_network
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.envelope import warn
from common.rest.returns import returns
from limits.rates import spend_request
from qrcodes import representations, selectors, services
from qrcodes.design import Design, ImageFormat, color_warnings
from qrcodes.drawing import CONTENT_TYPES, Busy, drawing_queue, render
from qrcodes.files import checked_file, file_name
from qrcodes.models import DesignFields, QrCode
from qrcodes.saved_designs import create_design, delete_design, update_design
from qrcodes.schema import PAGINATION, describe_designs, describe_qr_codes
from qrcodes.selectors import get_design, list_designs
from qrcodes.serializers import (
    CreateQrCodeSerializer,
    CreateQrDesignSerializer,
    ListQuery,
    LogoParser,
    QrSheetSerializer,
    UpdateQrDesignSerializer,
)
from qrcodes.sheets import archive, links_of_sheet, sheet


@describe_qr_codes
class QrCodeViewSet(ApiViewSet):
    parser_classes = [LogoParser]
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    queries = {"list": ListQuery}
    access = {
        "list": Access(Role.VIEWER, Scope.URLS_READ, limited=True),
        "create": Access(Role.EDITOR, Scope.QR_WRITE, limited=True),
        "retrieve": Access(Role.VIEWER, Scope.URLS_READ, limited=True),
        "destroy": Access(Role.EDITOR, Scope.QR_WRITE, limited=True),
        "file": Access(Role.VIEWER, Scope.URLS_READ, limited=True),
        "sheet": Access(Role.VIEWER, Scope.URLS_READ, limited=True),
    }
    bodies = {"create": CreateQrCodeSerializer, "sheet": QrSheetSerializer}

    def before_body(self, request: Request) -> None:
        if self.action == "sheet":
            self.request_stack.enter_context(costly_call(caller_of(request).id))

    @returns(200, qrCodes=[representations.qr_code], pagination=PAGINATION)
    def list(self, request: Request) -> dict[str, Any]:
        parameters = self.read_query()
        window = self.window(parameters)
        listed = selectors.list_qr_codes(workspace_of(request), window, **parameters)
        page = self.paginate(listed, window)
        return {"qrCodes": [representations.qr_code(code) for code in listed.rows], "pagination": page}

    @idempotent
    @returns(201, "QR code created successfully.", qrCode=representations.qr_code)
    def create(self, request: Request) -> dict[str, Any]:
        design = self.read_body()
        url_id = design.pop("url_id")
        code = services.create_qr_code(
            owner=workspace_of(request),
            url_id=url_id,
            design=Design(**design),
            default_logo=None if "logo" in design else settings.BRAND_LOGO,
        )
        _warn_of_colors(request, code)
        return {"qrCode": representations.qr_code(code)}

    @returns(200, qrCode=representations.qr_code)
    def retrieve(self, request: Request, id: str) -> dict[str, Any]:
        return {"qrCode": representations.qr_code(selectors.get_qr_code(workspace_of(request), id))}

    @returns(200, "QR code deleted successfully.")
    def destroy(self, request: Request, id: str) -> None:
        services.delete_qr_code(owner=workspace_of(request), public_id=id)

    @action(detail=True)
    def file(self, request: Request, id: str) -> HttpResponse:
        code = selectors.get_file(workspace_of(request), id)
        name = file_name(code.link.custom_code or code.link.short_code, code.link.title, code.format)
        picture = drawing_queue.image(
            b"file" + bytes(code.digest), _network(request), partial(checked_file, code.content, code.design)
        )
        return _download(picture, name)

    @action(detail=False, methods=["post"])
    def sheet(self, request: Request) -> HttpResponse:
        design = self.read_body()
        links = links_of_sheet(workspace_of(request), design.pop("url_ids"))
        network = _network(request)
        paper, columns, image_format = design.pop("paper"), design.pop("columns"), design.pop("archive")
        drawing: Any = {
            "default_logo": None if "logo" in design else settings.BRAND_LOGO,
            "design": Design(**design),
            "draw": lambda digest, code: drawing_queue.image(digest, network, code),
        }
        name = f"qr-codes-{timezone.now():%Y-%m-%d}"
        if image_format is not None:
            return _download(archive(links, image_format=image_format, **drawing), f"{name}.zip")
        return _download(sheet(links, paper=paper, columns=columns, **drawing), f"{name}.pdf")


def _warn_of_colors(request: Request, code: DesignFields) -> None:
    for warning, message in color_warnings(code.foreground, code.background):
        warn(request, "foregroundColor", warning, message)


def _network(request: Request) -> str:
    return customer_network(address_of_client(request))


def _download(file: bytes, name: str) -> HttpResponse:
    extension = name.rpartition(".")[2]
    response = HttpResponse(file, CONTENT_TYPES.get(extension, "application/zip"))
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response


@describe_designs
class DesignViewSet(ApiViewSet):
    parser_classes = [LogoParser]
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    # A design belongs to the workspace, not to some of its links.
    access = {
        "list": Access(Role.VIEWER, Scope.URLS_READ),
        "create": Access(Role.EDITOR, Scope.QR_WRITE),
        "retrieve": Access(Role.VIEWER, Scope.URLS_READ),
        "update": Access(Role.EDITOR, Scope.QR_WRITE),
        "destroy": Access(Role.EDITOR, Scope.QR_WRITE),
    }
    bodies = {"create": CreateQrDesignSerializer, "update": UpdateQrDesignSerializer}

    @returns(200, designs=[representations.listed_design])
    def list(self, request: Request) -> dict[str, Any]:
        return {"designs": list(map(representations.listed_design, list_designs(workspace_of(request))))}

    @idempotent
    @returns(201, "QR design created successfully.", design=representations.saved_design)
    def create(self, request: Request) -> dict[str, Any]:
        design = create_design(owner=workspace_of(request), fields=self.read_body())
        _warn_of_colors(request, design)
        return {"design": representations.saved_design(design)}

    @returns(200, design=representations.saved_design)
    def retrieve(self, request: Request, id: str) -> dict[str, Any]:
        return {"design": representations.saved_design(get_design(workspace_of(request), id))}

    @returns(200, "QR design updated successfully.", design=representations.saved_design)
    def update(self, request: Request, id: str) -> dict[str, Any]:
        design = update_design(owner=workspace_of(request), public_id=id, changes=self.read_body())
        _warn_of_colors(request, design)
        return {"design": representations.saved_design(design)}

    @returns(200, "QR design deleted successfully.")
    def destroy(self, request: Request, id: str) -> None:
        delete_design(owner=workspace_of(request), public_id=id)


class ImageView(APIView):
    """Public: the URL is the credential. Errors have the API's form."""

    http_method_names = ["get", "head"]
    authentication_classes = []
    permission_classes = []
    throttle_classes = []
    # Not an operation of the API.
    schema = None

    def get(self, request: Request, token: str, image_format: str) -> HttpResponse:
        address = address_of_client(request)
        if limit := settings.RATE_LIMIT_ANONYMOUS:
            spend_request(f"images for {client_network(address)}", limit)
        code = selectors.get_image(token, image_format)
        # The picture never changes, but its bytes may with the next version of Pillow: a weak ETag.
        etag, made_at = f'W/"{bytes(code.digest).hex()[:32]}"', int(code.created_at.timestamp())
        response = get_conditional_response(request, etag=etag, last_modified=made_at)
        if response is None:
            response = _image(code, address)
        elif response.status_code == 412:
            return response
        response["ETag"] = etag
        response["Last-Modified"] = http_date(made_at)
        response["Cache-Control"] = "public, max-age=31536000, immutable"
        return response

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        # Keep Django from logging this 503: a flood of image requests must not flood the log.
        response._has_been_logged = isinstance(exc, Busy)  # type: ignore[attr-defined] # read by Django's log
        return response

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        final: Response = super().finalize_response(request, response, *args, **kwargs)
        final.headers.setdefault("Cache-Control", "no-store")
        final["X-Content-Type-Options"] = "nosniff"
        return final


def _image(code: QrCode, address: str) -> HttpResponse:
    picture = drawing_queue.image(
        bytes(code.digest), customer_network(address), partial(render, code.content, code.design)
    )
    response = HttpResponse(picture, CONTENT_TYPES[code.format])
    if code.format == ImageFormat.SVG:
        # Opened directly, an SVG is a document that could run scripts; this policy forbids it.
        response["Content-Security-Policy"] = "sandbox"
    return response
