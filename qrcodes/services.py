from __future__ import annotations

import hashlib
from dataclasses import asdict, replace

import orjson
from django.db import transaction

from accounts.models import User
from common.errors import FieldError, InvalidFields
from links.representations import short_url_of
from links.scans import SCAN_MARKER
from links.selectors import get_link
from qrcodes.design import Design, Level
from qrcodes.models import QrCode
from qrcodes.selectors import get_qr_code
from qrcodes.symbol import TooSmall, symbol


@transaction.atomic
def create_qr_code(*, owner: User, url_id: str, design: Design) -> QrCode:
    """The code of this design for what the link is called today: the one there is already, or a new one.

    Raises NotFound or InvalidFields, having written nothing.
    """
    if design.logo is not None:
        design = replace(design, level=Level.HIGH)
    # Locked, so that it can neither be deleted nor renamed before its code is there.
    link = get_link(owner, url_id, lock=True)
    content = f"{short_url_of(link)}?{SCAN_MARKER}"
    try:
        symbol(content, design)
    except TooSmall as error:
        message = f"A module would be smaller than a pixel: at least {error.needed} pixels are needed."
        raise InvalidFields([FieldError("size", "too_small", message)]) from None
    code, _ = QrCode.objects.get_or_create(
        link=link,
        digest=_digest(content, design),
        defaults={"owner": owner, "content": content, **asdict(design)},
    )
    return code


def delete_qr_code(*, owner: User, public_id: str) -> None:
    get_qr_code(owner, public_id).delete()


def _digest(content: str, design: Design) -> bytes:
    parts = {**asdict(design), "content": content, "logo": hashlib.sha256(design.logo or b"").hexdigest()}
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).digest()
