"""Files with QR codes: their names, and the proof that readers can decode them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from io import BytesIO

import zxingcpp
from PIL import Image

from common.errors import Conflict
from qrcodes.design import Design, ImageFormat
from qrcodes.drawing import render

_MAX_NAME = 60
_SEPARATORS = re.compile(r"[\W_]+")
_UNUSUAL = re.compile(r"[^A-Za-z0-9_-]+")
_PIXELS = frozenset({ImageFormat.PNG, ImageFormat.JPEG})


class NotReadable(Conflict):
    code = "not_readable"
    message = (
        "A reader could not decode this QR code. Choose a darker colour, a wider margin or a larger size."
    )


def file_name(code: str, title: str | None, extension: str) -> str:
    """The code, and the title in letters that every file system takes: ``qr-spring-Spring-sale.png``."""
    # Without accents, which not every system composes in the same way.
    letters = (
        letter
        for letter in unicodedata.normalize("NFKD", title or "")
        if not unicodedata.category(letter).startswith("M")
    )
    words = _SEPARATORS.sub("-", "".join(letters)).strip("-")[:_MAX_NAME].strip("-")
    parts = ["qr", _UNUSUAL.sub("-", code)[:_MAX_NAME].strip("-"), words]
    return f"{'-'.join(filter(None, parts))}.{extension}"


def checked_file(content: str, design: Design) -> bytes:
    """Draw the code, and decode what was drawn. Raises NotReadable.

    Of SVG and PDF, which only a browser or a printer turns into pixels, the same code as PNG is decoded; tests decode
    these formats in every style.
    """
    file = render(content, design)
    is_picture = design.format in _PIXELS
    require_readable(
        content, file if is_picture else render(content, replace(design, format=ImageFormat.PNG))
    )
    return file


def require_readable(content: str, picture: bytes) -> None:
    """Raises NotReadable if no attempt of the reader finds exactly this content."""
    with Image.open(BytesIO(picture), formats=["PNG", "JPEG"]) as image:
        grey = image.convert("L")
    found = zxingcpp.read_barcodes(grey, formats=zxingcpp.BarcodeFormats([zxingcpp.BarcodeFormat.QRCode]))
    if [barcode.text for barcode in found] != [content]:
        raise NotReadable
