"""QR codes as the API shows them: each field's value, schema and example."""

from __future__ import annotations

import base64

from django.conf import settings

from common.openapi.responses import Representation, choice, flag, moment, number, public_id, text
from qrcodes.design import (
    MAX_MARGIN,
    MAX_SIZE,
    MAX_WIDTH_MM,
    MIN_SIZE,
    MIN_WIDTH_MM,
    FramePosition,
    ImageFormat,
    Level,
    Style,
)
from qrcodes.models import QrCode, SavedDesign


def image_url(code: QrCode) -> str:
    return f"{settings.BASE_URL}/qr/{code.token}.{code.format}"


_LOOK = (
    choice("errorCorrectionLevel", "level", Level.values, "M"),
    text("foregroundColor", "foreground", "#1A2B3C"),
    text("backgroundColor", "background", "#FFFFFF"),
    number("margin", "margin", 4, min_value=0, max_value=MAX_MARGIN),
    choice("style", "style", Style.values, "rounded"),
    text("frameText", "frame_text", "Scan me", allow_null=True),
    choice("framePosition", "frame_position", FramePosition.values, "below"),
)
_SIZE = number("size", "size", 300, min_value=MIN_SIZE, max_value=MAX_SIZE)
_WIDTH = number("widthMm", "width_mm", 50, allow_null=True, min_value=MIN_WIDTH_MM, max_value=MAX_WIDTH_MM)

qr_code = Representation(
    "QrCode",
    public_id("019a9e40-7c35-7d1e-a2b4-6f0d8c1e5a39"),
    text("urlId", lambda code: str(code.link.public_id), "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"),
    text(
        "imageUrl",
        image_url,
        "https://go.example.com/qr/Jv3zQx0bS1yT5nKc8RfW2g.png",
        "Public. The image never changes.",
    ),
    _SIZE,
    _WIDTH,
    choice("format", "format", ImageFormat.values, "png"),
    *_LOOK,
    flag("hasLogo", "has_logo", False),
    moment("createdAt", "created_at", "2030-03-01T09:30:00.123456Z"),
)


def _logo(design: SavedDesign) -> str | None:
    if design.logo is None:
        return None
    return f"data:image/png;base64,{base64.b64encode(bytes(design.logo)).decode()}"


saved_design = Representation(
    "QrDesign",
    public_id("019a9e41-3b7a-7c52-8d3e-5a1f0b9c7e64"),
    text("name", "name", "Posters"),
    flag("isDefault", "is_default", True),
    _SIZE,
    _WIDTH,
    *_LOOK,
    flag("hasLogo", "has_logo", False),
    text("logo", _logo, None, "A PNG as a data URI.", allow_null=True),
    flag("brandLogo", "brand_logo", True),
    moment("createdAt", "created_at", "2030-03-01T09:30:00.123456Z"),
    moment("updatedAt", "updated_at", "2030-03-01T09:30:00.123456Z"),
)
listed_design = saved_design.pick(
    "ListedQrDesign", " ".join(field.name for field in saved_design.fields if field.name != "logo")
)
