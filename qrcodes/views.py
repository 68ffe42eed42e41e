from __future__ import annotations

from functools import partial
from typing import Any

from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import http_date
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import account_of
from accounts.idempotency import idempotent
from common.api import ApiViewSet
from common.envelope import ok
from common.pagination import pagination
from qrcodes import representations, selectors, services
from qrcodes.design import Design, ImageFormat
from qrcodes.models import QrCode
from qrcodes.parsers import LogoParser
from qrcodes.rendering import CONTENT_TYPES, render
from qrcodes.schema import describe_qr_codes
from qrcodes.serializers import CreateQrCodeSerializer, ListQuery
from qrcodes.studio import Busy, studio


@describe_qr_codes
class QrCodeViewSet(ApiViewSet):
    parser_classes = [LogoParser]
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"

    def list(self, request: Request) -> Response:
        query = ListQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        found = selectors.list_qr_codes(account_of(request), **query.validated_data)
        asked = query.validated_data
        page = pagination(asked["page"], asked["limit"], found.total, is_capped=found.total_is_capped)
        return ok({"qrCodes": [representations.qr_code(code) for code in found.rows], "pagination": page})

    @idempotent
    def create(self, request: Request) -> Response:
        body = CreateQrCodeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        design = dict(body.validated_data)
        url_id = design.pop("url_id")
        code = services.create_qr_code(owner=account_of(request), url_id=url_id, design=Design(**design))
        return ok({"qrCode": representations.qr_code(code)}, "QR code created successfully.", status=201)

    def retrieve(self, request: Request, id: str) -> Response:
        return ok({"qrCode": representations.qr_code(selectors.get_qr_code(account_of(request), id))})

    def destroy(self, request: Request, id: str) -> Response:
        services.delete_qr_code(owner=account_of(request), public_id=id)
        return ok(message="QR code deleted successfully.")


class ImageView(APIView):
    """For everybody who was given the address; its refusals are the API's."""

    http_method_names = ["get", "head"]
    authentication_classes = []
    permission_classes = []
    throttle_classes = []
    # An address that the API hands out, not an operation of it.
    schema = None

    def get(self, request: Request, token: str, image_format: str) -> HttpResponse:
        with studio.room():
            return self._get(request, selectors.get_image(token, image_format))

    def _get(self, request: Request, code: QrCode) -> HttpResponse:
        # What is shown never changes; its bytes may, with the next version of what draws it: a weak one.
        etag, made_at = f'W/"{bytes(code.digest).hex()[:32]}"', int(code.created_at.timestamp())
        response = get_conditional_response(request, etag=etag, last_modified=made_at)
        if response is None:
            response = _image(code)
        elif response.status_code == 412:
            return response
        response["ETag"] = etag
        response["Last-Modified"] = http_date(made_at)
        response["Cache-Control"] = "public, max-age=31536000, immutable"
        return response

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        # What Django asks before it logs a 503: a storm of images should not become one in the log.
        response._has_been_logged = isinstance(exc, Busy)  # type: ignore[attr-defined]
        return response

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        final: Response = super().finalize_response(request, response, *args, **kwargs)
        final.headers.setdefault("Cache-Control", "no-store")
        final["X-Content-Type-Options"] = "nosniff"
        return final


def _image(code: QrCode) -> HttpResponse:
    picture = studio.draw(partial(render, code.content, code.design))
    response = HttpResponse(picture, CONTENT_TYPES[code.format])
    if code.format == ImageFormat.SVG:
        # Opened by itself an SVG is a document, which may have scripts: this one must not.
        response["Content-Security-Policy"] = "sandbox"
    return response
