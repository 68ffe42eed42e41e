"""Creates and deletes QR codes, and moves those of moved links."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, replace
from typing import Any

import orjson
from django.conf import settings
from django.dispatch import receiver

from accounts.caps import CapReached, lock_count, sharing_workspaces
from accounts.models import Workspace
from common.database import in_one_transaction
from common.errors import FieldError, InvalidFields
from links.bulk.moving import links_moved
from links.codes import SCAN_MARKER, short_url_of
from links.models import Link
from links.selectors import get_link
from qrcodes.design import Design
from qrcodes.models import QrCode
from qrcodes.selectors import get_qr_code, qr_code_not_found
from qrcodes.symbol import TooSmall, symbol


def create_qr_code(
    *, owner: Workspace, url_id: str, design: Design, default_logo: bytes | None = None
) -> QrCode:
    """Return a code with this design for the link's current short URL: an existing code, or a new one.

    Omits ``default_logo`` if the size leaves no space for it. Raises NotFound, InvalidFields or CapReached, and
    then writes nothing.
    """
    return in_one_transaction(lambda: _create(owner, url_id, design, default_logo))


def _create(owner: Workspace, url_id: str, design: Design, default_logo: bytes | None) -> QrCode:
    # Lock the link, so that it cannot be deleted or renamed before its code is stored.
    link = get_link(owner, url_id, lock=True)
    content = content_of(link)
    design = with_default_logo(content, design, default_logo)
    try:
        symbol(content, design)
    except TooSmall as error:
        message = f"A module would be smaller than a pixel: at least {error.needed} pixels are needed."
        raise InvalidFields([FieldError("size", "too_small", message)]) from None
    digest = digest_of(content, design)
    # The lock on the link prevents a concurrent request from creating the same code.
    code = QrCode.objects.filter(link=link, digest=digest).first()
    if code is None:
        _require_space(owner)
        code = QrCode.objects.create(link=link, digest=digest, owner=owner, content=content, **asdict(design))
    return code


def content_of(link: Link) -> str:
    """What a code of the link has in it."""
    return f"{short_url_of(link)}?{SCAN_MARKER}"


def with_default_logo(content: str, design: Design, logo: bytes | None) -> Design:
    """The design with this logo, if there is one and if the size leaves enough space for it."""
    if logo is None:
        return design
    branded = replace(design, logo=logo)
    try:
        symbol(content, branded)
    except TooSmall:
        return design
    return branded


def _require_space(owner: Workspace) -> None:
    cap = settings.QR_CODES_PER_ACCOUNT
    if not cap:
        return
    lock_count(owner)
    if QrCode.objects.filter(owner__in=sharing_workspaces(owner)).values("pk")[:cap].count() >= cap:
        raise CapReached(cap, "QR codes")


def delete_qr_code(*, owner: Workspace, public_id: str) -> None:
    """Raises NotFound, also if another request has just moved or deleted the code."""
    # A code never enters or leaves the limits of a key, so only the deletion itself compares the owner.
    code = get_qr_code(owner, public_id)
    deleted, _ = QrCode.objects.filter(pk=code.pk, owner=owner).delete()
    if not deleted:
        raise qr_code_not_found()


def digest_of(content: str, design: Design) -> bytes:
    parts = {**asdict(design), "content": content, "logo": hashlib.sha256(design.logo or b"").hexdigest()}
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).digest()


@receiver(links_moved)
def move_qr_codes(*, source: Workspace, target: Workspace, links: list[int], **_: Any) -> None:
    """Raises CapReached. The sender has locked the links, and the count of the target's objects.

    The cap limits new codes and moved ones. An undeletion ignores the cap, so a workspace can be above it: links
    without QR codes can still move there.
    """
    moved = QrCode.objects.filter(link__in=links).update(owner=target)
    cap = settings.QR_CODES_PER_ACCOUNT
    if not moved or not cap:
        return
    counted = sharing_workspaces(target)
    if source.pk not in counted and QrCode.objects.filter(owner__in=counted)[: cap + 1].count() > cap:
        raise CapReached(cap, "QR codes")
