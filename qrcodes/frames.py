"""The frame around a QR code: a border in the colour of the code, with a call to action above or below the code."""

from __future__ import annotations

from dataclasses import dataclass

from qrcodes.design import Design, FramePosition
from qrcodes.lettering import CAPITAL, Line, fitted, width

BORDER_MODULES = 1
# The height of the band with the text and the radius of the corners, by the width of the image.
_BAND_SHARE, _RADIUS_SHARE = 0.16, 0.04
# The size of the text, by the height of the band.
_TEXT_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Frame:
    """In pixels. The light square with the code begins ``light_top`` below the upper edge."""

    width: int
    height: int
    border: int
    radius: int
    light_top: int
    light_height: int
    band_top: int
    band_height: int
    line: Line


def frame(design: Design, border: int) -> Frame | None:
    if design.frame_text is None:
        return None
    size = design.size
    band = round(size * _BAND_SHARE)
    is_above = design.frame_position == FramePosition.ABOVE
    band_top, band_height = (0 if is_above else size - border), band + border
    text_size = fitted(design.frame_text, within=size - 6 * border, most=band_height * _TEXT_SHARE)
    line = Line(
        design.frame_text,
        x=(size - width(design.frame_text) * text_size) / 2,
        baseline=band_top + (band_height + CAPITAL * text_size) / 2,
        size=text_size,
    )
    return Frame(
        width=size,
        height=size + band,
        border=border,
        radius=round(size * _RADIUS_SHARE),
        light_top=border + (band if is_above else 0),
        light_height=size - 2 * border,
        band_top=band_top,
        band_height=band_height,
        line=line,
    )


Box = tuple[int, int, int, int, int, str]


def boxes(design: Design, height: int, around: Frame | None) -> list[Box]:
    """The rectangles behind the modules, from back to front: x, y, width, height, radius and colour."""
    behind = (0, 0, design.size, height, 0, design.background)
    if around is None:
        return [behind]
    inner = design.size - 2 * around.border
    return [
        behind,
        (0, 0, design.size, height, around.radius, design.foreground),
        (around.border, around.light_top, inner, around.light_height, 0, design.background),
    ]
