from __future__ import annotations

from dataclasses import dataclass

from accounts.models import User
from common.database import read_first
from common.errors import NotFound
from common.ids import parse_public_id
from links.selectors import get_link
from qrcodes.models import QrCode

# Counting goes no further, so that a page costs the same however many codes there are.
COUNT_LIMIT = 10_000


# What the API shows: no logo, which is long, and next to nothing of the link.
_SHOWN = QrCode.objects.select_related("link").only(
    *(
        "public_id",
        "token",
        "size",
        "format",
        "level",
        "foreground",
        "background",
        "margin",
        "style",
        "has_logo",
    ),
    *("created_at", "link__public_id"),
)


@dataclass(frozen=True, slots=True)
class QrCodePage:
    rows: list[QrCode]
    total: int
    total_is_capped: bool


def list_qr_codes(owner: User, *, page: int, limit: int, url_id: str | None = None) -> QrCodePage:
    """The newest first. Raises NotFound for a link that is not the owner's."""
    codes = QrCode.objects.filter(owner=owner)
    if url_id is not None:
        identifier = parse_public_id(url_id)
        codes = codes.none() if identifier is None else codes.filter(link__public_id=identifier)
    total = codes.values("pk")[: COUNT_LIMIT + 1].count()
    if total == 0 and url_id is not None:
        get_link(owner, url_id)
    capped, offset = total > COUNT_LIMIT, (page - 1) * limit
    if offset >= total and not capped:
        return QrCodePage([], total, capped)
    # Only the page itself is fetched; what comes before it is skipped in an index.
    on_page = codes.order_by("-id").values("pk")[offset : offset + limit]
    rows = _SHOWN.filter(pk__in=on_page).order_by("-id")
    return QrCodePage(list(rows), min(total, COUNT_LIMIT), capped)


def get_qr_code(owner: User, public_id: str) -> QrCode:
    """Raises NotFound, for another owner's code and for what is no id as for none."""
    identifier = parse_public_id(public_id)
    code = None if identifier is None else _SHOWN.filter(owner=owner, public_id=identifier).first()
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
