"""Draws a QR code as SVG: a path for all modules, in units of modules."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from html import escape

from qrcodes.design import Design, Style
from qrcodes.frames import Box, boxes
from qrcodes.lettering import EM, Line, outlines
from qrcodes.symbol import Corners, Symbol, runs, shaped_modules

_SHARP_CORNERS = ("h.5v.5", "v.5h-.5", "h-.5v-.5", "v-.5h.5")
_ROUND_CORNERS = ("a.5.5 0 0 1 .5.5", "a.5.5 0 0 1-.5.5", "a.5.5 0 0 1-.5-.5", "a.5.5 0 0 1 .5-.5")


def svg(symbol: Symbol, design: Design, content: str) -> bytes:
    """An SVG with whole pixels at its nominal size, where it is as crisp as a PNG."""
    square = design.style == Style.SQUARE
    path = "".join(_runs(symbol) if square else _outlines(symbol, design.style))
    crisp = ' shape-rendering="crispEdges"' if square else ""
    box = f"0 0 {design.size} {symbol.height}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {_lengths(symbol, design)} viewBox="{box}"'
        f' role="img"><title>QR code of {escape(content)}</title>'
        f"{''.join(map(_rect, boxes(design, symbol.height, symbol.frame)))}"
        f'<path fill="{design.foreground}"{crisp} d="{path}"'
        f' transform="translate({symbol.left} {symbol.top}) scale({symbol.scale})"/>'
        f"{'' if symbol.frame is None else _text(symbol.frame.line, design.background)}"
        f"{_svg_logo(symbol, design)}</svg>"
    ).encode()


def _lengths(symbol: Symbol, design: Design) -> str:
    if design.width_mm is None:
        return f'width="{design.size}" height="{symbol.height}"'
    return f'width="{design.width_mm}mm" height="{design.width_mm * symbol.height / design.size:g}mm"'


def _rect(box: Box) -> str:
    x, y, width, height, radius, color = box
    place = f' x="{x}" y="{y}"' if x or y else ""
    rounded = f' rx="{radius}"' if radius else ""
    return f'<rect{place} width="{width}" height="{height}"{rounded} fill="{color}"/>'


def _text(line: Line, color: str) -> str:
    path = "".join(f"{name}{' '.join(map(str, at))}" for glyph in outlines(line.text) for name, at in glyph)
    place = f"translate({line.x:.2f} {line.baseline:.2f}) scale({line.size / EM:.5f})"
    return f'<path fill="{color}" d="{path}" transform="{place}"/>'


def _runs(symbol: Symbol) -> Iterator[str]:
    for row, column, length in runs(symbol):
        yield f"M{column} {row}h{length}v1h-{length}z"


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
    x, y, side = symbol.logo_box
    address = f"data:image/png;base64,{base64.b64encode(design.logo).decode()}"
    return f'<image x="{x}" y="{y}" width="{side}" height="{side}" href="{address}"/>'
