"""Draws a QR code as an image file: as pixels, or as a single path of SVG in units of modules.

The symbol has the modules of a code: their positions in the image, and their shapes for both kinds of images. Images
are drawn by one thread with a bounded queue before it: each request occupies one of the worker's threads, and
redirects need some of these threads too.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from html import escape
from io import BytesIO
from itertools import groupby

from PIL import Image, ImageDraw
from qrcode.constants import ERROR_CORRECT_H, ERROR_CORRECT_L, ERROR_CORRECT_M, ERROR_CORRECT_Q
from qrcode.main import QRCode

from accounts.admission import Admission
from common.bounded_cache import BoundedCache
from common.colors import rgb
from common.errors import Unavailable
from qrcodes.design import Design, ImageFormat, Style

_LEVELS = {"L": ERROR_CORRECT_L, "M": ERROR_CORRECT_M, "Q": ERROR_CORRECT_Q, "H": ERROR_CORRECT_H}
# Level H can correct a logo of 30 % of the width; printed codes suffer other damage too.
_LOGO_SHARE = 0.2
_FINDER = 7

Matrix = list[list[bool]]


class TooSmall(Exception):
    """``needed`` is the size in pixels at which a module has one pixel."""

    def __init__(self, needed: int) -> None:
        self.needed = needed
        super().__init__(needed)


@dataclass(frozen=True, slots=True)
class Symbol:
    """Modules of ``scale`` pixels, ``offset`` pixels from the edges; modules under the logo are light."""

    matrix: Matrix
    scale: int
    offset: int
    logo_modules: int

    @property
    def width(self) -> int:
        """The width in modules, without the quiet zone."""
        return len(self.matrix)

    @property
    def logo_box(self) -> tuple[int, int]:
        """The first pixel and the length in pixels of the logo's square, in both directions."""
        first = (self.width - self.logo_modules) // 2
        # Leave half a module between the logo and its neighbours.
        inset = self.scale // 2
        return self.offset + first * self.scale + inset, self.logo_modules * self.scale - 2 * inset

    def is_in_finder(self, row: int, column: int) -> bool:
        far = self.width - _FINDER
        return (row < _FINDER and (column < _FINDER or column >= far)) or (row >= far and column < _FINDER)


def symbol(content: str, design: Design) -> Symbol:
    """Modules as large as whole pixels allow; the rest widens the quiet zone. Raises TooSmall."""
    code = QRCode(error_correction=_LEVELS[design.level], border=0)
    code.add_data(content.encode(), optimize=0)
    code.make()
    matrix: Matrix = [[bool(module) for module in row] for row in code.modules]
    needed = len(matrix) + 2 * design.margin
    scale = design.size // needed
    if scale == 0:
        raise TooSmall(needed)
    offset = (design.size - len(matrix) * scale) // 2
    return Symbol(matrix, scale, offset, 0 if design.logo is None else _clear_logo_area(matrix))


def _clear_logo_area(matrix: Matrix) -> int:
    """Clear a square in the middle and return its width, which is odd like the width of every code."""
    width = len(matrix)
    side = int(width * _LOGO_SHARE)
    side -= 1 - side % 2
    first = (width - side) // 2
    for row in matrix[first : first + side]:
        row[first : first + side] = [False] * side
    return side


# Whether each corner is round: top left, top right, bottom right, bottom left.
Corners = tuple[bool, bool, bool, bool]

_SHARP: Corners = (False, False, False, False)
_ROUND: Corners = (True, True, True, True)


def shaped_modules(symbol: Symbol, style: str) -> Iterator[tuple[int, int, Corners]]:
    """Row, column and corners of each dark module.

    Rounded modules merge with their neighbours. Dots are separate, except in the three finder patterns, which
    readers look for first.
    """
    width, matrix = symbol.width, symbol.matrix

    def dark(row: int, column: int) -> bool:
        return 0 <= row < width and 0 <= column < width and matrix[row][column]

    for row in range(width):
        for column in range(width):
            if not matrix[row][column]:
                continue
            if style == Style.DOTS:
                yield row, column, _SHARP if symbol.is_in_finder(row, column) else _ROUND
                continue
            above, below = dark(row - 1, column), dark(row + 1, column)
            left, right = dark(row, column - 1), dark(row, column + 1)
            corners = (
                not (above or left), not (above or right), not (below or right), not (below or left)
            )  # fmt: skip
            yield row, column, corners


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
    """Encode without chroma subsampling (4:4:4), which would blur the edges of modules."""
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


# A worker has four threads. The fourth stays free: it rejects further image requests and serves redirects.
WAITING = 2
TIMEOUT_SECONDS = 5
# An image of the default size has about a kilobyte, the largest ones with a logo some hundred.
KEPT_BYTES = 4 * 1024 * 1024
LARGEST_KEPT = KEPT_BYTES // 8


class Busy(Unavailable):
    code = "busy"
    message = "Too many image requests at once. Try again shortly."


class DrawingQueue:
    """Draws one image at a time, and keeps the last ones. ``waiting`` requests wait, one of each caller."""

    def __init__(self, waiting: int, timeout: float) -> None:
        """``timeout`` in seconds, for the place in the queue and again for the drawing."""
        self.admission = Admission(1, waiting, seconds=timeout, refusal=Busy)
        # One fixed thread, because each thread keeps the memory it has used. It starts with the first image.
        self._executor = ThreadPoolExecutor(1, "drawing")
        self._drawn: BoundedCache[bytes, bytes] = BoundedCache(
            4096, KEPT_BYTES, lambda key, image: len(key) + len(image)
        )
        self.timeout = timeout

    def image(self, digest: bytes, caller: str, render: Callable[[], bytes]) -> bytes:
        """The image with this digest of its content and design. Raises Busy without a place or after the timeout."""
        kept = self._drawn.get(digest)
        if kept is not None:
            return kept
        with self.admission.admit(caller):
            # Another request may have drawn it meanwhile.
            image = self._drawn.get(digest) or self._draw(render)
        if len(image) <= LARGEST_KEPT:
            self._drawn.put(digest, image)
        return image

    def _draw(self, render: Callable[[], bytes]) -> bytes:
        drawing = self._executor.submit(render)
        try:
            return drawing.result(self.timeout)
        except TimeoutError:
            drawing.cancel()
            raise Busy from None

    def forget(self) -> None:
        """Forget the kept images."""
        self._drawn.clear()


drawing_queue = DrawingQueue(WAITING, TIMEOUT_SECONDS)
