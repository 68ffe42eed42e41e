"""Which pairs of colours cameras can tell apart."""

from __future__ import annotations

import re

MIN_CONTRAST = 3

_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")

Rgb = tuple[int, int, int]


def is_color(text: str) -> bool:
    return _COLOR.fullmatch(text) is not None


def rgb(color: str) -> Rgb:
    red, green, blue = bytes.fromhex(color[1:])
    return red, green, blue


def luminance(color: str) -> float:
    """Relative luminance, 0 to 1 (WCAG 2)."""
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in (value / 255 for value in rgb(color))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """1 for equal colours to 21 for black and white (WCAG 2)."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)
