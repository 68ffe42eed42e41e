"""Decodes images of QR codes, and draws logos for them."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import Any

import pypdfium2
import resvg_py
import zxingcpp
from PIL import Image, ImageDraw

# Like the pixels of CSS, so that a PDF without a width in millimetres has as many pixels as its image.
_PIXELS_PER_POINT = 96 / 72


def opened(picture: bytes, image_format: str) -> Image.Image:
    if image_format == "pdf":
        [page] = pages(picture, _PIXELS_PER_POINT)
        return page
    if image_format == "svg":
        picture = resvg_py.svg_to_bytes(svg_string=picture.decode(), skip_system_fonts=True, dpi=96)
    image = Image.open(BytesIO(picture))
    image.load()
    return image


def pages(file: bytes, pixels_per_point: float) -> list[Image.Image]:
    """The pages of a PDF as a printer draws them."""
    with pypdfium2.PdfDocument(file) as document:
        return [page.render(scale=pixels_per_point).to_pil() for page in document]


def read(picture: bytes, image_format: str, *, inverts: bool = False) -> list[str]:
    return decoded(opened(picture, image_format), inverts=inverts)


def decoded(image: Image.Image, *, inverts: bool = False) -> list[str]:
    """The content that a strict reader decodes: it does not rotate the image, and inverts it only with ``inverts``."""
    barcodes = zxingcpp.read_barcodes(
        image.convert("L"),
        formats=zxingcpp.BarcodeFormat.QRCode,
        try_rotate=False,
        try_invert=inverts,
    )
    return [barcode.text for barcode in barcodes]


def logo(mode: str = "RGBA", size: tuple[int, int] = (64, 48)) -> Image.Image:
    """A disc: red if the mode has colours, on a transparent background if it has transparency."""
    image = Image.new("RGBA", size, (0, 0, 0, 0))
    ImageDraw.Draw(image).ellipse((0, 0, size[0] - 1, size[1] - 1), fill=(200, 30, 30, 255))
    return image.convert(mode)


def file_of(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    buffer = BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def data_uri(file: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(file).decode()}"
