"""Colours of pages and QR codes: contrast by WCAG 2, and colours of text that people can read."""

from __future__ import annotations

import re

BLACK, WHITE = "#000000", "#FFFFFF"

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


def contrast(first: str, second: str) -> float:
    """Contrast ratio, from 1 for equal colours to 21 for black and white (WCAG 2)."""
    darker, lighter = sorted((luminance(first), luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def text_on(background: str) -> str:
    """Black or white, whichever is easier to read. One of them has a contrast of at least 4.5 with any colour."""
    return max(WHITE, BLACK, key=lambda text: contrast(text, background))


def readable_on(background: str, color: str, ratio: float) -> str:
    """The colour, or its closest mixture with black or white that has this contrast with the background.

    Black or white has a contrast of at least 4.5 with any background, and is returned if ``ratio`` is out of reach.
    """
    extreme = text_on(background)
    for percent in range(100):
        mixture = mix(color, extreme, percent)
        if contrast(mixture, background) >= ratio:
            return mixture
    return extreme


def mix(color: str, other: str, percent: int) -> str:
    """Mix this percentage of the other colour into the colour."""
    channels = (
        round(first + (second - first) * percent / 100)
        for first, second in zip(rgb(color), rgb(other), strict=True)
    )
    return "#{:02X}{:02X}{:02X}".format(*channels)
