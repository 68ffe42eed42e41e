"""Draws QR codes as pages of a PDF (ISO 32000-1), of nothing but shapes: it needs no font, and prints at any size."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from io import BytesIO

from PIL import Image

from common.colors import rgb
from qrcodes.design import MM_PER_INCH, PIXELS_PER_INCH, Design, Style
from qrcodes.frames import Box, boxes
from qrcodes.lettering import EM, Line, outlines
from qrcodes.symbol import Corners, Symbol, runs, shaped_modules

POINTS_PER_INCH = 72
POINTS_PER_MM = POINTS_PER_INCH / MM_PER_INCH
# How far the control points of a curve are from its ends, so that four curves are nearly a circle of this radius.
_CIRCLE = 0.5523
_LOGO = "Logo"


def pdf(symbol: Symbol, design: Design, content: str) -> bytes:
    """A page of the size of the image."""
    width = (
        design.size * POINTS_PER_INCH / PIXELS_PER_INCH
        if design.width_mm is None
        else design.width_mm * POINTS_PER_MM
    )
    scale = width / design.size
    file = Pdf(f"QR code of {content}", design.logo)
    file.add_page(width, symbol.height * scale, placed(code(symbol, design), 0, 0, scale))
    return file.finished()


def placed(drawing: str, x: float, y: float, scale: float) -> str:
    return f"q {_n(scale)} 0 0 {_n(scale)} {_n(x)} {_n(y)} cm\n{drawing}Q\n"


def code(symbol: Symbol, design: Design) -> str:
    """The code with its frame, in pixels."""
    parts = [_box(box) for box in boxes(design, symbol.height, symbol.frame)]
    shapes = _runs(symbol) if design.style == Style.SQUARE else _outlines(symbol, design.style)
    modules = f"{_color(design.foreground)}{''.join(shapes)}f\n"
    parts.append(placed(modules, symbol.left, symbol.top, symbol.scale))
    if symbol.frame is not None:
        parts.append(text(symbol.frame.line, design.background))
    if design.logo is not None:
        x, y, side = symbol.logo_box
        # The first row of an image is at its upper edge, where y is 1.
        parts.append(f"q {side} 0 0 {-side} {x} {y + side} cm /{_LOGO} Do Q\n")
    return "".join(parts)


def text(line: Line, color: str) -> str:
    glyphs = "".join(command for outline in outlines(line.text) for command in _path(outline))
    return placed(f"{_color(color)}{glyphs}f\n", line.x, line.baseline, line.size / EM)


def _path(outline: list[tuple[str, tuple[int, ...]]]) -> Iterator[str]:
    x = y = 0
    for name, at in outline:
        if name == "Z":
            yield "h\n"
            continue
        if name == "Q":
            # PDF has cubic curves only.
            (across, down), (to_x, to_y) = at[:2], at[2:]
            controls = (
                (start + 2 * control) / 3
                for start, control in ((x, across), (y, down), (to_x, across), (to_y, down))
            )
            yield f"{' '.join(map(_n, controls))} {to_x} {to_y} c\n"
        else:
            yield f"{at[0]} {at[1]} {name.lower()}\n"
        x, y = at[-2:]


def _runs(symbol: Symbol) -> Iterator[str]:
    for row, column, length in runs(symbol):
        yield f"{column} {row} {length} 1 re\n"


def _outlines(symbol: Symbol, style: str) -> Iterator[str]:
    for row, column, corners in shaped_modules(symbol, style):
        yield _rounded((column, row, 1, 1), 0.5, corners)


def _box(box: Box) -> str:
    x, y, width, height, radius, color = box
    shape = (
        _rounded((x, y, width, height), radius, (True,) * 4) if radius else f"{x} {y} {width} {height} re\n"
    )
    return f"{_color(color)}{shape}f\n"


def _rounded(place: tuple[float, float, float, float], radius: float, corners: Corners) -> str:
    """A rectangle, x, y, width and height, clockwise from its upper left corner."""
    x, y, width, height = place
    right, bottom, inset = x + width, y + height, radius * (1 - _CIRCLE)
    top_left, top_right, bottom_right, bottom_left = corners
    path = [f"{_n(x + radius)} {_n(y)} m\n"]
    for is_round, corner, before, after in (
        (top_right, (right, y), (right - inset, y), (right, y + inset)),
        (bottom_right, (right, bottom), (right, bottom - inset), (right - inset, bottom)),
        (bottom_left, (x, bottom), (x + inset, bottom), (x, bottom - inset)),
        (top_left, (x, y), (x, y + inset), (x + inset, y)),
    ):
        start = _towards(corner, before, radius, inset)
        end = _towards(corner, after, radius, inset)
        path.append(f"{_pair(start)} l\n")
        path.append(
            f"{_pair(before)} {_pair(after)} {_pair(end)} c\n"
            if is_round
            else f"{_pair(corner)} l\n{_pair(end)} l\n"
        )
    return "".join(path) + "h\n"


def _towards(
    corner: tuple[float, float], control: tuple[float, float], radius: float, inset: float
) -> tuple[float, float]:
    """The point of the edge through ``control`` that is a radius away from the corner."""
    share = radius / inset
    return tuple(at + (to - at) * share for at, to in zip(corner, control, strict=True))  # type: ignore[return-value] # two


def _pair(point: tuple[float, float]) -> str:
    return f"{_n(point[0])} {_n(point[1])}"


def _n(number: float) -> str:
    """PDF knows no exponents."""
    return f"{number:.6f}".rstrip("0").rstrip(".")


def _color(color: str) -> str:
    red, green, blue = (_n(channel / 255) for channel in rgb(color))
    # Printers mix a grey of the three colours, but have ink for this one.
    return f"{red} g\n" if red == green == blue else f"{red} {green} {blue} rg\n"


class Pdf:
    """A file whose pages all may show the logo. Lengths are in points, y down from the upper edge."""

    def __init__(self, title: str, logo: bytes | None = None) -> None:
        # The catalogue and the list of pages are written last, and known to all others.
        self._objects: list[bytes] = [b"", b""]
        self._pages: list[int] = []
        hexadecimal = f"\ufeff{title}".encode("utf-16-be").hex().upper()
        self._info = self._add(f"<< /Title <{hexadecimal}> >>".encode())
        self._resources = b"<< >>" if logo is None else self._with_logo(logo)

    def add_page(self, width: float, height: float, drawing: str) -> None:
        turned = f"1 0 0 -1 0 {_n(height)} cm\n{drawing}"
        content = self._stream(b"", turned.encode())
        self._pages.append(
            self._add(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {_n(width)} {_n(height)}] /Contents {content} 0 R"
                f" /Resources ".encode()
                + self._resources
                + b" >>"
            )
        )

    def finished(self) -> bytes:
        kids = " ".join(f"{page} 0 R" for page in self._pages)
        self._objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
        self._objects[1] = f"<< /Type /Pages /Kids [{kids}] /Count {len(self._pages)} >>".encode()
        # The second line tells programs that the file is not a text.
        file = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
        table = ["0000000000 65535 f \n"]
        for number, content in enumerate(self._objects, 1):
            table.append(f"{len(file):010} 00000 n \n")
            file += b"%d 0 obj\n%b\nendobj\n" % (number, content)
        start, size = len(file), len(table)
        file += f"xref\n0 {size}\n{''.join(table)}trailer\n".encode()
        file += f"<< /Size {size} /Root 1 0 R /Info {self._info} 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
        return bytes(file)

    def _add(self, content: bytes) -> int:
        self._objects.append(content)
        return len(self._objects)

    def _stream(self, entries: bytes, data: bytes) -> int:
        packed = zlib.compress(data)
        head = b"<< %b /Length %d /Filter /FlateDecode >>" % (entries, len(packed))
        return self._add(head + b"\nstream\n" + packed + b"\nendstream")

    def _with_logo(self, logo: bytes) -> bytes:
        with Image.open(BytesIO(logo), formats=["PNG"]) as image:
            picture = image.convert("RGBA")
        # Like in the other formats, the logo keeps its shape in the middle of a square.
        side = max(picture.size)
        square = Image.new("RGBA", (side, side), (255, 255, 255, 0))
        square.paste(picture, ((side - picture.width) // 2, (side - picture.height) // 2))
        lengths = f"/Type /XObject /Subtype /Image /Width {side} /Height {side} /BitsPerComponent 8"
        mask = self._stream(f"{lengths} /ColorSpace /DeviceGray".encode(), square.getchannel("A").tobytes())
        colors = f"{lengths} /ColorSpace /DeviceRGB /SMask {mask} 0 R".encode()
        shown = self._stream(colors, square.convert("RGB").tobytes())
        return f"<< /XObject << /{_LOGO} {shown} 0 R >> >>".encode()
