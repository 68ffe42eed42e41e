"""Draws a QR code as pixels: PNG and JPEG."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from io import BytesIO
from typing import Any

from PIL import Image, ImageDraw

from common.colors import mix, rgb
from qrcodes.design import MM_PER_INCH, Design, Style
from qrcodes.frames import Frame
from qrcodes.lettering import EM, Command, Line, outlines
from qrcodes.symbol import Corners, Symbol, shaped_modules

_PALETTE_SIZE = 256
# A module with fewer pixels has no corners to round.
_MIN_ROUNDED = 4
# Edges of letters have mixtures of both colours. The palette begins with the background, the foreground and these.
_MIXTURES = 14


def png(symbol: Symbol, design: Design) -> bytes:
    """One bit per pixel, with a frame four. With a logo eight: its colours are reduced to the rest of the palette."""
    image = _indices(symbol, design)
    palette = _palette(symbol, design)
    if design.logo is not None:
        kept = len(palette) // 3
        patch = _raster_logo(symbol, design).quantize(_PALETTE_SIZE - kept, dither=Image.Dither.NONE)
        palette += patch.getpalette() or []
        # Shift the palette indices of the bytes, because point() does not work on palette images.
        shifted = bytes(min(index + kept, _PALETTE_SIZE - 1) for index in range(_PALETTE_SIZE))
        image.paste(_translated(patch, shifted), _corner(symbol))
    image.putpalette(palette)
    return _encoded(image, design, "PNG")


def jpeg(symbol: Symbol, design: Design) -> bytes:
    """Encode without chroma subsampling (4:4:4), which would blur the edges of modules."""
    indices = _indices(symbol, design)
    indices.putpalette(_palette(symbol, design))
    image = indices.convert("RGB")
    if design.logo is not None:
        image.paste(_raster_logo(symbol, design), _corner(symbol))
    return _encoded(image, design, "JPEG", quality=92, subsampling=0)


def _palette(symbol: Symbol, design: Design) -> list[int]:
    palette = [*rgb(design.background), *rgb(design.foreground)]
    if symbol.frame is not None:
        for step in range(1, _MIXTURES + 1):
            palette += rgb(mix(design.background, design.foreground, step * 100 // (_MIXTURES + 1)))
    return palette


def _index_of(coverage: int) -> int:
    """The index of the mixture with this share of the foreground, from 0 to 255."""
    step = round(coverage * (_MIXTURES + 1) / 255)
    return {0: 0, _MIXTURES + 1: 1}.get(step, step + 1)


_INDICES = bytes(_index_of(coverage) for coverage in range(256))
_INVERTED_INDICES = _INDICES[::-1]


def _translated(image: Image.Image, table: bytes) -> Image.Image:
    return Image.frombytes("P", image.size, image.tobytes().translate(table))


def _indices(symbol: Symbol, design: Design) -> Image.Image:
    image = Image.new("P", (design.size, symbol.height), 0)
    if symbol.frame is not None:
        _draw_frame(image, symbol.frame)
    scale = symbol.scale
    if design.style == Style.SQUARE or scale < _MIN_ROUNDED:
        modules = Image.frombytes(
            "P", (symbol.width, symbol.width), b"".join(bytes(row) for row in symbol.matrix)
        )
        width = symbol.width * scale
        image.paste(modules.resize((width, width), Image.Resampling.NEAREST), (symbol.left, symbol.top))
        return image
    tiles = cache(_tile)
    for row, column, corners in shaped_modules(symbol, design.style):
        image.paste(tiles(scale, corners), (symbol.left + column * scale, symbol.top + row * scale))
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


# Letters are drawn larger and reduced, which smooths their edges. Large ones need less of it.
_FINE, _COARSE, _FINE_BELOW = 4, 2, 1000
# Each curve of a letter becomes this many straight lines.
_STEPS = 6


def _draw_frame(image: Image.Image, frame: Frame) -> None:
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, frame.width - 1, frame.height - 1), fill=1)
    radius = frame.radius
    disc = Image.new("L", (2 * radius * _FINE,) * 2, 0)
    ImageDraw.Draw(disc).ellipse((0, 0, disc.width - 1, disc.height - 1), fill=255)
    corners = _translated(disc.reduce(_FINE), _INDICES)
    for x, to_x in ((0, 0), (radius, frame.width - radius)):
        for y, to_y in ((0, 0), (radius, frame.height - radius)):
            image.paste(corners.crop((x, y, x + radius, y + radius)), (to_x, to_y))
    right, bottom = frame.width - frame.border - 1, frame.light_top + frame.light_height - 1
    draw.rectangle((frame.border, frame.light_top, right, bottom), fill=0)
    band = (frame.radius, frame.band_top, frame.width - frame.radius, frame.band_top + frame.band_height)
    image.paste(_lettering(frame.line, band), band[:2])


def _lettering(line: Line, box: tuple[int, int, int, int]) -> Image.Image:
    """The light text on the dark box: left, top, right and bottom."""
    left, top, right, bottom = box
    factor = _FINE if right < _FINE_BELOW else _COARSE
    letters = Image.new("L", ((right - left) * factor, (bottom - top) * factor), 0)
    draw, scale = ImageDraw.Draw(letters), line.size * factor / EM
    x, y = (line.x - left) * factor, (line.baseline - top) * factor
    for outline in outlines(line.text):
        contours = [
            [(x + scale * across, y + scale * down) for across, down in contour]
            for contour in _polygons(outline)
        ]
        contours.sort(key=lambda contour: -abs(_area(contour)))
        # Contours do not overlap. Those that turn the other way are holes in a larger one.
        for contour in contours:
            draw.polygon(contour, fill=255 if _area(contour) * _area(contours[0]) > 0 else 0)
    return _translated(letters.reduce(factor), _INVERTED_INDICES)


Point = tuple[float, float]


def _polygons(outline: list[Command]) -> Iterator[list[Point]]:
    contour: list[Point] = []
    for name, at in outline:
        if name == "Z":
            yield contour
            contour = []
        elif name == "Q":
            contour += _curve(contour[-1], (at[0], at[1]), (at[2], at[3]))
        else:
            contour.append((at[0], at[1]))


def _curve(start: Point, control: Point, end: Point) -> Iterator[Point]:
    for step in range(1, _STEPS + 1):
        share = step / _STEPS
        first, middle, last = (1 - share) ** 2, 2 * share * (1 - share), share**2
        yield (
            first * start[0] + middle * control[0] + last * end[0],
            first * start[1] + middle * control[1] + last * end[1],
        )


def _area(contour: list[Point]) -> float:
    """Twice the area, negative in the other direction."""
    following = [*contour[1:], contour[0]]
    return sum(x * next_y - next_x * y for (x, y), (next_x, next_y) in zip(contour, following, strict=True))


def _raster_logo(symbol: Symbol, design: Design) -> Image.Image:
    """The logo scaled to its box, on the background colour."""
    _, _, side = symbol.logo_box
    box = Image.new("RGB", (side, side), design.background)
    with Image.open(BytesIO(design.logo or b""), formats=["PNG"]) as logo:
        factor = side / max(logo.size)
        width, height = (max(1, round(length * factor)) for length in logo.size)
        scaled = logo.convert("RGBA").resize((width, height), Image.Resampling.LANCZOS)
    box.paste(scaled, ((side - width) // 2, (side - height) // 2), scaled)
    return box


def _corner(symbol: Symbol) -> tuple[int, int]:
    left, top, _ = symbol.logo_box
    return left, top


def _encoded(image: Image.Image, design: Design, kind: str, **options: Any) -> bytes:
    buffer = BytesIO()
    if design.width_mm is not None:
        resolution = design.size * MM_PER_INCH / design.width_mm
        options["dpi"] = (resolution, resolution)
    image.save(buffer, kind, **options)
    return buffer.getvalue()
