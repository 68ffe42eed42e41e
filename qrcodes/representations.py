from __future__ import annotations

from typing import Any

from django.conf import settings

from common.fields import iso_utc
from qrcodes.models import QrCode


def image_url(code: QrCode) -> str:
    return f"{settings.BASE_URL}/qr/{code.token}.{code.format}"


def qr_code(code: QrCode) -> dict[str, Any]:
    return {
        "_id": str(code.public_id),
        "urlId": str(code.link.public_id),
        "imageUrl": image_url(code),
        "size": code.size,
        "format": code.format,
        "errorCorrectionLevel": code.level,
        "foregroundColor": code.foreground,
        "backgroundColor": code.background,
        "margin": code.margin,
        "style": code.style,
        "hasLogo": code.has_logo,
        "createdAt": iso_utc(code.created_at),
    }
