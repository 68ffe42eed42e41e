"""How a QR code looks: its size, colours, shapes, frame, format and logo, and which colours readers can tell apart.

Readers look at grey values, so two colours of equal brightness are one colour to them. `make bench-qr-colors` tries
thousands of pairs with a real reader; bench/results.csv, "QR codes", has the bounds that follow from it. Logos from
callers are untrusted until they are decoded and re-encoded.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from django.db.models import TextChoices
from PIL import Image, PngImagePlugin

from common.colors import BLACK, WHITE, contrast, rgb

MIN_SIZE, DEFAULT_SIZE, MAX_SIZE = 100, 300, 2000
# The standard requires four modules.
DEFAULT_MARGIN, MAX_MARGIN = 4, 10
MIN_WIDTH_MM, MAX_WIDTH_MM = 5, 2000
MAX_FRAME_TEXT = 30
MM_PER_INCH = 25.4
# Of images without a width in millimetres, as browsers show them (CSS).
PIXELS_PER_INCH = 96


class ImageFormat(TextChoices):
    PNG = "png"
    SVG = "svg"
    JPEG = "jpeg"
    PDF = "pdf"


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


class FramePosition(TextChoices):
    BELOW = "below"
    ABOVE = "above"


@dataclass(frozen=True, slots=True)
class Design:
    """``logo`` is a PNG re-encoded by `clean_logo`. Without ``frame_text`` there is no frame.

    A logo requires the highest level, because it hides modules.
    """

    size: int = DEFAULT_SIZE
    format: str = ImageFormat.PNG
    level: str = Level.MEDIUM
    foreground: str = BLACK
    background: str = WHITE
    margin: int = DEFAULT_MARGIN
    style: str = Style.SQUARE
    logo: bytes | None = None
    width_mm: int | None = None
    frame_text: str | None = None
    frame_position: str = FramePosition.BELOW

    def __post_init__(self) -> None:
        if self.logo is not None:
            object.__setattr__(self, "level", Level.HIGH)


# The trials read no code whose grey values are closer, in any format.
MIN_GREYS = 13
# The reading of a blurred and noisy photo becomes unreliable below either of these.
RECOMMENDED_GREYS, RECOMMENDED_CONTRAST = 51, 3


def grey(color: str) -> int:
    """The grey value that readers compute, 0 to 255 (luma of ITU-R BT.601)."""
    red, green, blue = rgb(color)
    return round(0.299 * red + 0.587 * green + 0.114 * blue)


def grey_levels(first: str, second: str) -> int:
    """Return by how much the grey values of two colours differ, 0 to 255."""
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


def contrast_refusal(foreground: str, background: str) -> str:
    """Why no reader can read such a code; "" if some can."""
    greys = grey_levels(foreground, background)
    if greys >= MIN_GREYS:
        return ""
    greys_differ = f"their greys differ by {greys} of 255, not {MIN_GREYS} or more."
    return f"Not distinguishable from backgroundColor: {greys_differ}"


def default_foreground(brand: str) -> str:
    """The operator's colour if every reader can read it on white, otherwise black. ``brand``: "" for none."""
    return brand if brand and not list(color_warnings(brand, WHITE)) else BLACK


MAX_BYTES = 100 * 1024
MAX_ACROSS = 1024
# A fifth of the largest code, the largest size at which a logo is shown.
_STORED_ACROSS = 400

_DATA_URI = re.compile(r"data:image/(png|jpeg);base64,([A-Za-z0-9+/]+={0,2})")
# Modes for print, such as CMYK and 16-bit grey: converting them yields wrong colours.
_UNSUPPORTED_MODES = frozenset({"CMYK", "YCbCr", "LAB", "HSV", "I", "F", "I;16", "I;16B"})
# A small JPEG with thousands of tiny scans takes long to decode.
_SCAN, _MAX_SCANS = b"\xff\xda", 100

# Pillow only warns about most decompression bombs. This module rejects images by size before decoding any
# pixel.
Image.MAX_IMAGE_PIXELS = None
# Pillow decompresses a PNG's comments when it opens the file.
PngImagePlugin.MAX_TEXT_MEMORY = 1024 * 1024


class BadLogo(Exception):
    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)


def clean_logo(data_uri: str) -> bytes:
    """Return the picture re-encoded as a PNG, without any other data of the input. Raises BadLogo."""
    file, kind = _file(data_uri)
    try:
        with Image.open(BytesIO(file), formats=[kind]) as image:
            _refuse_unsupported(image, kind)
            picture = image.convert("RGBA")
    except BadLogo:
        raise
    except Exception:  # the decoders raise arbitrary exceptions
        raise BadLogo("unreadable", f"Not a complete {kind} image.") from None
    picture.thumbnail((_STORED_ACROSS, _STORED_ACROSS), Image.Resampling.LANCZOS)
    buffer = BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def _file(data_uri: str) -> tuple[bytes, str]:
    # Check the length first, so that the pattern never sees a long text.
    if len(data_uri) > len("data:image/jpeg;base64,") + -(-MAX_BYTES // 3) * 4:
        raise _too_large()
    match = _DATA_URI.fullmatch(data_uri)
    if match is None:
        raise _invalid_data_uri()
    try:
        file = base64.b64decode(match[2], validate=True)
    except binascii.Error:
        raise _invalid_data_uri() from None
    if len(file) > MAX_BYTES:
        raise _too_large()
    if file.count(_SCAN) > _MAX_SCANS and match[1] == "jpeg":
        raise BadLogo("unreadable", f"Has more than {_MAX_SCANS} scans.")
    return file, match[1].upper()


def _refuse_unsupported(image: Image.Image, kind: str) -> None:
    if max(image.size) > MAX_ACROSS:
        raise BadLogo("max_size", f"Must be at most {MAX_ACROSS} pixels wide and high.")
    # A multi-picture JPEG has a format name of its own.
    if image.format != kind or getattr(image, "is_animated", False):
        raise BadLogo("animated", "Must be a single image.")
    if image.mode in _UNSUPPORTED_MODES:
        raise BadLogo("mode", "Must be in RGB, grey of 8 bits or a palette.")


def _too_large() -> BadLogo:
    return BadLogo("max_length", f"Must be at most {MAX_BYTES} bytes.")


def _invalid_data_uri() -> BadLogo:
    return BadLogo("invalid", "Must be data:image/png;base64,… or data:image/jpeg;base64,….")
