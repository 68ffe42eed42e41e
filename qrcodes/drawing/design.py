"""The design of a QR code: its size, colours, shapes and format."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import TextChoices

from common.colors import BLACK, WHITE

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
