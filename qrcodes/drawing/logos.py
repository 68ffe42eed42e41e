"""Logos from callers: untrusted until they are decoded and re-encoded."""

from __future__ import annotations

import base64
import binascii
import re
from io import BytesIO

from PIL import Image, PngImagePlugin

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
