from __future__ import annotations

from accounts.models import Workspace
from common.database import read_first
from common.errors import NotFound
from common.ids import find_by_public_id, parse_public_id
from common.pages import Page, Window, page_of, rows_from_place
from links.selectors import get_link
from qrcodes.models import QrCode, SavedDesign

# Totals are counted up to this limit, so that a page costs the same for any number of codes.
COUNT_LIMIT = 100_000

# Only the columns that the API shows. Logos are long, and of the link only the id is needed.
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
        "width_mm",
        "frame_text",
        "frame_position",
    ),
    *("created_at", "link__public_id"),
)


def list_qr_codes(owner: Workspace, window: Window, *, url_id: str | None = None) -> Page[QrCode]:
    """The owner's codes, newest first. Raises NotFound for a link of another owner."""
    codes = QrCode.objects.visible_to(owner)
    if url_id is not None:
        identifier = parse_public_id(url_id)
        codes = codes.none() if identifier is None else codes.filter(link__public_id=identifier)
    total = codes.values("pk")[: COUNT_LIMIT + 1].count()
    if total == 0 and url_id is not None:
        get_link(owner, url_id)
    capped = total > COUNT_LIMIT
    if window.offset >= total and not capped:
        return Page([], total)
    # Rows before the page are skipped in an index and never fetched.
    on_page = rows_from_place(codes.values("pk"), window, "-id")
    rows = list(_SHOWN.filter(pk__in=on_page).order_by("-id"))
    return page_of(rows, window, min(total, COUNT_LIMIT), lambda code: (code.pk,), is_capped=capped)


def get_qr_code(owner: Workspace, public_id: str) -> QrCode:
    """Raises NotFound for another owner's code, an unknown id or a malformed one."""
    code = find_by_public_id(_SHOWN.visible_to(owner), public_id)
    if code is None:
        raise qr_code_not_found()
    return code


def qr_code_not_found() -> NotFound:
    return NotFound("QR code not found.")


def get_file(owner: Workspace, public_id: str) -> QrCode:
    """The code with its logo and its link. Raises NotFound as `get_qr_code` does."""
    code = find_by_public_id(QrCode.objects.visible_to(owner).select_related("link"), public_id)
    if code is None:
        raise qr_code_not_found()
    return code


def get_image(token: str, image_format: str) -> QrCode:
    """The code with this image URL. Raises NotFound."""
    images = QrCode.objects.filter(token=token, format=image_format)
    code = read_first(images.first)
    if code is None:
        raise NotFound("Image not found.")
    return code


def list_designs(owner: Workspace) -> list[SavedDesign]:
    """The designs of the workspace by name, without their logos."""
    return list(SavedDesign.objects.filter(owner=owner).defer("logo").order_by("name"))


def get_design(owner: Workspace, public_id: str) -> SavedDesign:
    """Raises NotFound for the design of another workspace, an unknown id or a malformed one."""
    design = find_by_public_id(SavedDesign.objects.filter(owner=owner), public_id)
    if design is None:
        raise design_not_found()
    return design


def design_not_found() -> NotFound:
    return NotFound("QR design not found.")
