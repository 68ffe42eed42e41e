"""Rendering a QR code as an image file."""

from __future__ import annotations

from qrcodes.drawing import raster, vector
from qrcodes.drawing.design import Design, ImageFormat
from qrcodes.drawing.symbol import symbol

CONTENT_TYPES: dict[str, str] = {
    ImageFormat.PNG: "image/png",
    ImageFormat.SVG: "image/svg+xml",
    ImageFormat.JPEG: "image/jpeg",
}


def render(content: str, design: Design) -> bytes:
    modules = symbol(content, design)
    if design.format == ImageFormat.SVG:
        return vector.svg(modules, design, content)
    if design.format == ImageFormat.JPEG:
        return raster.jpeg(modules, design)
    return raster.png(modules, design)
