"""The OpenAPI description of the endpoints under /api/qr-codes."""

from __future__ import annotations

from functools import partial

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiRequest,
    extend_schema_field,
    extend_schema_view,
)
from rest_framework.fields import BooleanField, CharField, ChoiceField, IntegerField

from accounts import idempotency
from common.errors import NotFound
from common.fields import DateTime
from common.pagination import MAX_DEPTH, TOO_DEEP
from common.schema import (
    NO_CREDENTIAL,
    Part,
    Parts,
    annotate,
    answer,
    bad_bodies,
    component,
    example,
    invalid,
    nested,
    operation,
    pick,
)
from common.schema_hooks import Following
from qrcodes.design import ImageFormat, Level, Style
from qrcodes.logos import MAX_ACROSS, MAX_BYTES
from qrcodes.parsers import LogoParser
from qrcodes.selectors import COUNT_LIMIT
from qrcodes.serializers import ColorField, CreateQrCodeSerializer, ListQuery, LogoField

_operation = partial(operation, tag="QR codes")

extend_schema_field({"type": "string", "pattern": "^#[0-9A-Fa-f]{6}$"})(ColorField)
extend_schema_field({"type": "string", "pattern": "^data:image/(png|jpeg);base64,[A-Za-z0-9+/]+={0,2}$"})(
    LogoField
)

annotate(
    CreateQrCodeSerializer,
    {
        "urlId": {"description": "The `_id` of the URL that the code leads to."},
        "size": {"description": "Width and height in pixels, the quiet zone included."},
        "errorCorrectionLevel": {"description": "Up to 7, 15, 25 or 30 % of the code may be lost."},
        "foregroundColor": {"description": "Darker than `backgroundColor`, with a contrast of 3:1 or more."},
        "margin": {"description": "Modules around the code, at least; standards ask for 4."},
        "style": {"description": "The shape of the modules."},
        "logo": {
            "description": f"Shown in the middle, and makes the level `H`. A PNG or JPEG of at most {MAX_BYTES} bytes"
            f" and {MAX_ACROSS} pixels across, not animated."
        },
    },
)
annotate(
    ListQuery,
    {
        "page": {"description": f"Pages reach down to row {MAX_DEPTH}: `page` times `limit`."},
        "limit": {"description": "How many QR codes make a page."},
        "urlId": {"description": "Only the codes that lead to this URL."},
    },
)

_QR_CODE: Parts = {
    "_id": Part(CharField(label="_id"), "019a9e40-7c35-7d1e-a2b4-6f0d8c1e5a39"),
    "urlId": Part(CharField(), "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"),
    "imageUrl": Part(
        CharField(help_text="For everybody who knows it. What it shows never changes."),
        "https://go.example.com/qr/Jv3zQx0bS1yT5nKc8RfW2g.png",
    ),
    "size": Part(IntegerField(min_value=100, max_value=2000), 300),
    "format": Part(ChoiceField(ImageFormat.values), "png"),
    "errorCorrectionLevel": Part(ChoiceField(Level.values), "M"),
    "foregroundColor": Part(CharField(), "#1A2B3C"),
    "backgroundColor": Part(CharField(), "#FFFFFF"),
    "margin": Part(IntegerField(min_value=0, max_value=10), 4),
    "style": Part(ChoiceField(Style.values), "rounded"),
    "hasLogo": Part(BooleanField(), False),
    "createdAt": Part(DateTime(), "2030-03-01T09:30:00.123456Z"),
}
_QrCode = component("QrCode", _QR_CODE)
_ONE = Part(_QrCode(), example(_QR_CODE))

_COUNT = IntegerField(min_value=0)
_PAGINATION: Parts = {
    "page": Part(IntegerField(min_value=1), 1),
    "limit": Part(IntegerField(min_value=1), 20),
    "total": Part(_COUNT, 1),
    "pages": Part(_COUNT, 1),
    "totalIsCapped": Part(
        BooleanField(
            required=False, help_text=f"True when there are more than {COUNT_LIMIT}; total ends there."
        )
    ),
}

_NO_LOGOS = (
    ("invalid", "Must be data:image/png;base64,… or data:image/jpeg;base64,…."),
    ("unreadable", "Is no whole PNG image."),
    ("max_size", f"Must be at most {MAX_ACROSS} pixels wide and high."),
    ("animated", "Must be a single image."),
    ("mode", "Must be in RGB, grey of 8 bits or a palette."),
    ("max_length", f"Must be at most {MAX_BYTES} bytes."),
)
_BAD_BODIES = bad_bodies(LogoParser.max_bytes)
_BY_ID = OpenApiParameter("id", str, OpenApiParameter.PATH, description="The `_id` of the QR code.")
_NO_URL, _NO_QR_CODE = NotFound("URL not found."), NotFound("QR code not found.")
_SENT = "urlId size format errorCorrectionLevel foregroundColor backgroundColor margin style"

describe_qr_codes = extend_schema_view(
    create=_operation(
        "createQrCode",
        "Make a QR code that leads to a short link.",
        answer(
            "CreateQrCode",
            "The QR code: the one there is, if there is one for all the same parameters.",
            "QR code created successfully.",
            data={"qrCode": _ONE},
        ),
        [
            invalid(
                "foregroundColor", "contrast", "Contrast with backgroundColor is 1.6:1, not 3:1 or more."
            ),
            invalid(
                "foregroundColor",
                "inverted",
                "Must be darker than backgroundColor: many readers see no inverted codes.",
            ),
            invalid(
                "size",
                "too_small",
                "A module would be smaller than a pixel: at least 101 pixels are needed.",
            ),
            *(invalid("logo", code, message) for code, message in _NO_LOGOS),
            *_BAD_BODIES,
            NO_CREDENTIAL,
            _NO_URL,
            *idempotency.REFUSALS,
        ],
        status=201,
        is_idempotent=True,
        body=OpenApiRequest(
            CreateQrCodeSerializer, examples=[OpenApiExample("Example", example(pick(_QR_CODE, _SENT)))]
        ),
        leads_to=Following("/data/qrCode/_id", dict.fromkeys(("getQrCode", "deleteQrCode"), "id")),
        description="The code holds the `shortUrl` that the URL has now, with `?qr=1` behind it, by which scans are"
        " told from clicks. It goes on leading to the destination when the URL gets another code, as the former one"
        " stays. On a customer's domain it works for as long as that domain leads here.",
    ),
    list=_operation(
        "listQrCodes",
        "List one's QR codes, the newest first, page by page.",
        answer(
            "ListQrCodes",
            "One page; beyond the last one, an empty one.",
            data={
                "qrCodes": Part(_QrCode(many=True), [example(_QR_CODE)]),
                "pagination": nested("QrCodePagination", _PAGINATION),
            },
        ),
        [
            invalid("page", "too_deep", TOO_DEEP),
            NO_CREDENTIAL,
            _NO_URL,
        ],
        parameters=[ListQuery],
    ),
    retrieve=_operation(
        "getQrCode",
        "Read a QR code.",
        answer("GetQrCode", "The QR code.", data={"qrCode": _ONE}),
        [NO_CREDENTIAL, _NO_QR_CODE],
        parameters=[_BY_ID],
    ),
    destroy=_operation(
        "deleteQrCode",
        "Delete a QR code.",
        answer("DeleteQrCode", "Its image is gone.", "QR code deleted successfully."),
        [*_BAD_BODIES, NO_CREDENTIAL, _NO_QR_CODE],
        parameters=[_BY_ID],
        description="What was printed of it keeps leading to the URL.",
    ),
)
