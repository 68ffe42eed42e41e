"""The design of a QR code: its size, colours, shapes and format, and which colours readers can tell apart.

Readers look at grey values, so two colours of equal brightness are one colour to them. `make bench-qr-colors` tries
thousands of pairs with a real reader; bench/results.md, "QR codes", has the bounds that follow from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import TextChoices

from common.colors import BLACK, WHITE, contrast, rgb

MIN_SIZE, DEFAULT_SIZE, MAX_SIZE = 100, 300, 2000
# The standard requires four modules.
DEFAULT_MARGIN, MAX_MARGIN = 4, 10


class ImageFormat(TextChoices):
    PNG = "png"
    SVG = "svg"
    JPEG = "jpeg"


class Level(TextChoices):
    """Error correction: the code stays readable if 7, 15, 25 or 30 percent of it is lost."""

    LOW = "L"
    MEDIUM = "M"
    QUARTILE = "Q"
    HIGH = "H"


class Style(TextChoices):
    SQUARE = "square"
    ROUNDED = "rounded"
    DOTS = "dots"


@dataclass(frozen=True, slots=True)
class Design:
    """``logo`` is a PNG re-encoded by `clean_logo`."""

    size: int = DEFAULT_SIZE
    format: str = ImageFormat.PNG
    level: str = Level.MEDIUM
    foreground: str = BLACK
    background: str = WHITE
    margin: int = DEFAULT_MARGIN
    style: str = Style.SQUARE
    logo: bytes | None = None


# The trials read no code whose grey values are closer, in any format.
MIN_GREYS = 13
# The reading of a blurred and noisy photo becomes unreliable below either of these.
RECOMMENDED_GREYS, RECOMMENDED_CONTRAST = 51, 3


def grey(color: str) -> int:
    """The grey value that readers compute, 0 to 255 (luma of ITU-R BT.601)."""
    red, green, blue = rgb(color)
    return round(0.299 * red + 0.587 * green + 0.114 * blue)


def grey_levels(first: str, second: str) -> int:
    """By how much the grey values of two colours differ, 0 to 255."""
    return abs(grey(first) - grey(second))


def color_warnings(foreground: str, background: str) -> Iterator[tuple[str, str]]:
    """The codes and messages of warnings about a pair that only some readers can read."""
    greys, ratio = grey_levels(foreground, background), contrast(foreground, background)
    if greys < RECOMMENDED_GREYS or ratio < RECOMMENDED_CONTRAST:
        # Truncated, not rounded: 2.999 is less than 3.0.
        yield (
            "low_contrast",
            f"Contrast with backgroundColor is {int(ratio * 100) / 100}:1, and {greys} of 255 levels of grey. Many "
            f"readers need {RECOMMENDED_CONTRAST}:1 and {RECOMMENDED_GREYS} levels or more.",
        )
    if grey(foreground) > grey(background):
        yield "inverted", "Lighter than backgroundColor: some readers cannot read inverted codes."


def default_foreground(brand: str) -> str:
    """The operator's colour if every reader can read it on white, otherwise black. ``brand``: "" for none."""
    return brand if brand and not list(color_warnings(brand, WHITE)) else BLACK
