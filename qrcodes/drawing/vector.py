"""QR codes as SVG: a single path in units of modules."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from html import escape
from itertools import groupby

from qrcodes.drawing.design import Design, Style
from qrcodes.drawing.shapes import Corners, shaped_modules
from qrcodes.drawing.symbol import Symbol

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
        f"{_logo(symbol, design)}</svg>"
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


def _logo(symbol: Symbol, design: Design) -> str:
    if design.logo is None:
        return ""
    first, side = symbol.logo_box
    address = f"data:image/png;base64,{base64.b64encode(design.logo).decode()}"
    return f'<image x="{first}" y="{first}" width="{side}" height="{side}" href="{address}"/>'
