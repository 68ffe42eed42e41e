"""Renders a QR code as an image file: as pixels, or as a single path of SVG in units of modules."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import cache
from html import escape
from io import BytesIO
from itertools import groupby

from PIL import Image, ImageDraw

from common.colors import rgb
from qrcodes.drawing.design import Design, ImageFormat, Style
from qrcodes.drawing.symbol import Corners, Symbol, shaped_modules, symbol

CONTENT_TYPES: dict[str, str] = {
    ImageFormat.PNG: "image/png",
    ImageFormat.SVG: "image/svg+xml",
    ImageFormat.JPEG: "image/jpeg",
}


def render(content: str, design: Design) -> bytes:
    modules = symbol(content, design)
    if design.format == ImageFormat.SVG:
        return svg(modules, design, content)
    if design.format == ImageFormat.JPEG:
        return jpeg(modules, design)
    return png(modules, design)


_PALETTE_SIZE = 256
# A module with fewer pixels has no corners to round.
_MIN_ROUNDED = 4


def png(symbol: Symbol, design: Design) -> bytes:
    """One bit per pixel. With a logo eight bits: the logo's colours are reduced to the rest of the palette."""
    image = _indices(symbol, design)
    palette = [*rgb(design.background), *rgb(design.foreground)]
    if design.logo is not None:
        patch = _raster_logo(symbol, design).quantize(_PALETTE_SIZE - 2, dither=Image.Dither.NONE)
        palette += patch.getpalette() or []
        # Shift the palette indices of the bytes, because point() does not work on palette images.
        shifted = Image.frombytes("P", patch.size, patch.tobytes().translate(_SHIFTED_INDICES))
        image.paste(shifted, _corner(symbol))
    image.putpalette(palette)
    return _encoded(image, "PNG")


def jpeg(symbol: Symbol, design: Design) -> bytes:
    """Without chroma subsampling (4:4:4), which would blur the edges of modules."""
    indices = _indices(symbol, design)
    indices.putpalette([*rgb(design.background), *rgb(design.foreground)])
    image = indices.convert("RGB")
    if design.logo is not None:
        image.paste(_raster_logo(symbol, design), _corner(symbol))
    return _encoded(image, "JPEG", quality=92, subsampling=0)


_SHIFTED_INDICES = bytes(min(index + 2, _PALETTE_SIZE - 1) for index in range(_PALETTE_SIZE))


def _indices(symbol: Symbol, design: Design) -> Image.Image:
    image = Image.new("P", (design.size, design.size), 0)
    scale, offset = symbol.scale, symbol.offset
    if design.style == Style.SQUARE or scale < _MIN_ROUNDED:
        modules = Image.frombytes(
            "P", (symbol.width, symbol.width), b"".join(bytes(row) for row in symbol.matrix)
        )
        width = symbol.width * scale
        image.paste(modules.resize((width, width), Image.Resampling.NEAREST), (offset, offset))
        return image
    tiles = cache(_tile)
    for row, column, corners in shaped_modules(symbol, design.style):
        image.paste(tiles(scale, corners), (offset + column * scale, offset + row * scale))
    return image


def _tile(scale: int, corners: Corners) -> Image.Image:
    """A disc whose quarters with a sharp corner are filled."""
    tile = Image.new("P", (scale, scale), 0)
    edge, half = scale - 1, scale // 2
    draw = ImageDraw.Draw(tile)
    draw.ellipse((0, 0, edge, edge), fill=1)
    for is_round, (x, y) in zip(corners, ((0, 0), (half, 0), (half, half), (0, half)), strict=True):
        if not is_round:
            draw.rectangle((x, y, x + edge - half, y + edge - half), fill=1)
    return tile


def _raster_logo(symbol: Symbol, design: Design) -> Image.Image:
    """The logo scaled to its box, on the background colour."""
    _, side = symbol.logo_box
    box = Image.new("RGB", (side, side), design.background)
    with Image.open(BytesIO(design.logo or b""), formats=["PNG"]) as logo:
        factor = side / max(logo.size)
        width, height = (max(1, round(length * factor)) for length in logo.size)
        scaled = logo.convert("RGBA").resize((width, height), Image.Resampling.LANCZOS)
    box.paste(scaled, ((side - width) // 2, (side - height) // 2), scaled)
    return box


def _corner(symbol: Symbol) -> tuple[int, int]:
    first, _ = symbol.logo_box
    return first, first


def _encoded(image: Image.Image, kind: str, **options: int) -> bytes:
    buffer = BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


_SHARP_CORNERS = ("h.5v.5", "v.5h-.5", "h-.5v-.5", "v-.5h.5")
_ROUND_CORNERS = ("a.5.5 0 0 1 .5.5", "a.5.5 0 0 1-.5.5", "a.5.5 0 0 1-.5-.5", "a.5.5 0 0 1 .5-.5")


def svg(symbol: Symbol, design: Design, content: str) -> bytes:
    """An SVG with whole pixels at its nominal size, where it is as crisp as a PNG."""
    size, square = design.size, design.style == Style.SQUARE
    path = "".join(_runs(symbol) if square else _outlines(symbol, design.style))
    crisp = ' shape-rendering="crispEdges"' if square else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" viewBox="0 0 {size} {size}"'
        f' role="img"><title>QR code of {escape(content)}</title>'
        f'<rect width="{size}" height="{size}" fill="{design.background}"/>'
        f'<path fill="{design.foreground}"{crisp} d="{path}"'
        f' transform="translate({symbol.offset} {symbol.offset}) scale({symbol.scale})"/>'
        f"{_svg_logo(symbol, design)}</svg>"
    ).encode()


def _runs(symbol: Symbol) -> Iterator[str]:
    for number, row in enumerate(symbol.matrix):
        column = 0
        for dark, run in groupby(row):
            length = len(list(run))
            if dark:
                yield f"M{column} {number}h{length}v1h-{length}z"
            column += length


def _outlines(symbol: Symbol, style: str) -> Iterator[str]:
    for row, column, corners in shaped_modules(symbol, style):
        yield f"M{column}.5 {row}{_outline(corners)}z"


def _outline(corners: Corners) -> str:
    """The outline of a module, clockwise from the middle of its upper edge."""
    return "".join(
        round_corner if is_round else sharp_corner
        for is_round, round_corner, sharp_corner in zip(
            (*corners[1:], corners[0]), _ROUND_CORNERS, _SHARP_CORNERS, strict=True
        )
    )


def _svg_logo(symbol: Symbol, design: Design) -> str:
    if design.logo is None:
        return ""
    first, side = symbol.logo_box
    address = f"data:image/png;base64,{base64.b64encode(design.logo).decode()}"
    return f'<image x="{first}" y="{first}" width="{side}" height="{side}" href="{address}"/>'
