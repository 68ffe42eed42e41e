"""The OpenAPI description of the endpoints under /api/qr-codes."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema_field

from accounts.admission import TOO_MANY_CALLS
from accounts.caps import CapReached
from common.openapi.document import NextOperations
from common.openapi.error_examples import invalid
from common.openapi.operations import Operation, describe, name_choices
from common.openapi.responses import example, pagination_representation
from common.rest.fields import DIRECTION_REFUSED
from common.rest.pagination import TOO_DEEP
from links.bulk.schema import ID, OWN_IDS
from links.errors import url_not_found
from qrcodes.design import MAX_ACROSS, MAX_BYTES, MIN_GREYS, FramePosition, ImageFormat, Level, Style
from qrcodes.drawing import CONTENT_TYPES, Busy
from qrcodes.files import NotReadable
from qrcodes.representations import qr_code, saved_design
from qrcodes.saved_designs import MAX_DESIGNS, NameTaken, TooManyDesigns
from qrcodes.selectors import COUNT_LIMIT
from qrcodes.serializers import LogoField
from qrcodes.sheets import MAX_LINKS, Archive, Paper

name_choices("QrCodeFormat", ImageFormat.values)
name_choices("ErrorCorrectionLevel", Level.values)
name_choices("QrCodeStyle", Style.values)
name_choices("QrArchiveFormat", Archive.values)
name_choices("QrSheetPaper", Paper.values)
name_choices("QrFramePosition", FramePosition.values)
extend_schema_field({"type": "string", "pattern": "^data:image/(png|jpeg);base64,[A-Za-z0-9+/]+={0,2}$"})(
    LogoField
)

PAGINATION = pagination_representation(
    "QrCodePagination", f"True if there are more than {COUNT_LIMIT}; `total` stops there."
)
_NO_LOGOS = (
    ("invalid", "Must be data:image/png;base64,… or data:image/jpeg;base64,…."),
    ("unreadable", "Not a complete PNG image."),
    ("max_size", f"Must be at most {MAX_ACROSS} pixels wide and high."),
    ("animated", "Must be a single image."),
    ("mode", "Must be in RGB, grey of 8 bits or a palette."),
    ("max_length", f"Must be at most {MAX_BYTES} bytes."),
)
_LOOK = "size errorCorrectionLevel foregroundColor backgroundColor margin style frameText framePosition"
_SENT = f"urlId format widthMm {_LOOK}"
_SAME_GREY = (
    f"Not distinguishable from backgroundColor: their greys differ by 3 of 255, not {MIN_GREYS} or more."
)
_TOO_SMALL = "A module would be smaller than a pixel: at least 101 pixels are needed."

_NO_LETTER = "Contains a character that cannot be drawn: U+1F600."
_BAD_LOOKS = (
    invalid("foregroundColor", "contrast", _SAME_GREY),
    invalid("frameText", "character", _NO_LETTER),
    invalid("frameText", "direction", DIRECTION_REFUSED),
    *(invalid("logo", code, message) for code, message in _NO_LOGOS),
)
_FILES = {
    media_type: OpenApiResponse(
        OpenApiTypes.BINARY, "The file. Its name is in `Content-Disposition`.", [OpenApiExample("File", "…")]
    )
    for media_type in CONTENT_TYPES.values()
}
_PDF = CONTENT_TYPES[ImageFormat.PDF]

describe_qr_codes = describe(
    "QR codes",
    of="QR code",
    create=Operation(
        "createQrCode",
        "Create a QR code for a short link.",
        "The QR code; an existing one if all parameters are the same.",
        description="The code contains the current `shortUrl` with `?qr=1`, which distinguishes scans from clicks. It"
        " keeps working when the URL gets another code, because the former one stays an alias. On a customer's"
        " domain it works as long as that domain points to the service. For colours that only some readers can read,"
        " the response has the warning `low_contrast` or `inverted`.",
        examples=[example(qr_code.pick("", _SENT).fields)],
        placeholders={"urlId": "the `_id` of one of your URLs"},
        errors=[
            invalid("size", "too_small", _TOO_SMALL),
            *_BAD_LOOKS,
            CapReached(100_000, "QR codes"),
            url_not_found(),
        ],
        next_operations=NextOperations(
            "/data/qrCode/_id", dict.fromkeys(("getQrCode", "deleteQrCode"), "id")
        ),
    ),
    list=Operation(
        "listQrCodes",
        "List your QR codes page by page, newest first.",
        "One page; empty past the last page.",
        description="With `urlId`, only the QR codes of this URL.",
        errors=[invalid("page", "too_deep", TOO_DEEP), url_not_found()],
    ),
    retrieve=Operation(
        "getQrCode",
        "Read a QR code.",
        "The QR code.",
        description="The image itself is at its `imageUrl`, which needs no credential.",
    ),
    destroy=Operation(
        "deleteQrCode",
        "Delete a QR code.",
        "The code and its image are deleted.",
        description="Printed copies keep working.",
    ),
    file=Operation(
        "downloadQrCode",
        "Download the file of a QR code.",
        description="The image of `imageUrl`, named by the code and the title of the URL. The service has decoded it"
        " before, and refuses a file from which its reader gets no or other content.",
        files=_FILES,
        errors=[NotReadable(), Busy()],
    ),
    sheet=Operation(
        "downloadQrSheet",
        f"Print the QR codes of up to {MAX_LINKS} short links on sheets, or pack them as files.",
        description="Each code has the title and the short URL of its link below it, without characters that are"
        " neither Latin, Greek nor Cyrillic. With `archive` the answer is a ZIP with a file for each link. Every code"
        " has been decoded. Stores no QR code.",
        files={_PDF: _FILES[_PDF], "application/zip": _FILES[_PDF]},
        examples=[{"urlIds": [ID], "paper": "a4", "columns": 3}],
        placeholders={"urlIds": OWN_IDS},
        errors=[
            invalid("urlIds"),
            *_BAD_LOOKS,
            url_not_found(),
            NotReadable(),
            TOO_MANY_CALLS,
            Busy(),
        ],
    ),
)
_SAVED = saved_design.pick("", f"name isDefault widthMm {_LOOK}").fields

describe_designs = describe(
    "QR codes",
    of="QR design",
    create=Operation(
        "createQrDesign",
        "Save a design of QR codes for the workspace.",
        "The design.",
        description=f"A workspace can have {MAX_DESIGNS}. Codes copy a design, so no later change of it reaches them.",
        examples=[example(_SAVED)],
        errors=[*_BAD_LOOKS, TooManyDesigns(), NameTaken()],
        next_operations=NextOperations(
            "/data/design/_id", dict.fromkeys(("getQrDesign", "updateQrDesign", "deleteQrDesign"), "id")
        ),
    ),
    list=Operation(
        "listQrDesigns",
        "List the saved designs of the workspace.",
        "All designs, by name, without their logos.",
        description="The design with `isDefault` is that with which the dashboard begins.",
    ),
    retrieve=Operation(
        "getQrDesign",
        "Read a saved design.",
        "The design with its logo.",
        description="For editors of designs.",
    ),
    update=Operation(
        "updateQrDesign",
        "Change a saved design.",
        "The whole design.",
        description="Omitted fields keep their value.",
        examples=[example(saved_design.pick("", "frameText framePosition").fields)],
        errors=[*_BAD_LOOKS, NameTaken()],
    ),
    destroy=Operation(
        "deleteQrDesign",
        "Delete a saved design.",
        "The design is deleted.",
        description="No QR code changes.",
    ),
)
