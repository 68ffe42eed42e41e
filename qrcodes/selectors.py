from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from accounts.models import User
from common.database import read_first
from common.errors import NotFound
from common.ids import parse_public_id
from links.selectors import get_link
from qrcodes.models import QrCode

# Counting goes no further, so that a page costs the same however many codes there are.
COUNT_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class QrCodePage:
    rows: list[QrCode]
    total: int
    total_is_capped: bool


def list_qr_codes(owner: User, *, page: int, limit: int, url_id: str | None = None) -> QrCodePage:
    """The newest first. Raises NotFound for a link that is not the owner's."""
    codes = _of(owner)
    if url_id is not None:
        identifier = parse_public_id(url_id)
        codes = codes.none() if identifier is None else codes.filter(link__public_id=identifier)
    total = codes.values("pk")[: COUNT_LIMIT + 1].count()
    if total == 0 and url_id is not None:
        get_link(owner, url_id)
    capped, offset = total > COUNT_LIMIT, (page - 1) * limit
    rows = list(codes.order_by("-id")[offset : offset + limit]) if capped or offset < total else []
    return QrCodePage(rows, min(total, COUNT_LIMIT), capped)


def get_qr_code(owner: User, public_id: str) -> QrCode:
    """Raises NotFound, for another owner's code and for what is no id as for none."""
    identifier = parse_public_id(public_id)
    code = None if identifier is None else _of(owner).filter(public_id=identifier).first()
    if code is None:
        raise NotFound("QR code not found.")
    return code


def get_image(token: str, image_format: str) -> QrCode:
    """The code whose image has this address. Raises NotFound."""
    images = QrCode.objects.filter(token=token, format=image_format)
    code = read_first(images.first)
    if code is None:
        raise NotFound("Image not found.")
    return code


def _of(owner: User) -> QuerySet[QrCode]:
    return QrCode.objects.filter(owner=owner).select_related("link").defer("logo")
