"""QR codes as the API shows them: each field's value, schema and example."""

from __future__ import annotations

from django.conf import settings

from common.openapi.responses import Representation, choice, flag, moment, number, public_id, text
from qrcodes.design import ImageFormat, Level, Style
from qrcodes.models import QrCode


def image_url(code: QrCode) -> str:
    return f"{settings.BASE_URL}/qr/{code.token}.{code.format}"


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
    number("size", "size", 300, min_value=100, max_value=2000),
    choice("format", "format", ImageFormat.values, "png"),
    choice("errorCorrectionLevel", "level", Level.values, "M"),
    text("foregroundColor", "foreground", "#1A2B3C"),
    text("backgroundColor", "background", "#FFFFFF"),
    number("margin", "margin", 4, min_value=0, max_value=10),
    choice("style", "style", Style.values, "rounded"),
    flag("hasLogo", "has_logo", False),
    moment("createdAt", "created_at", "2030-03-01T09:30:00.123456Z"),
)
