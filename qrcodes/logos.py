"""Logos as callers send them: hostile until they have been drawn anew."""

from __future__ import annotations

import base64
import binascii
import re
from io import BytesIO

from PIL import Image, PngImagePlugin

MAX_BYTES = 100 * 1024
MAX_ACROSS = 1024
# A fifth of the largest code: no logo is shown larger.
_KEPT_ACROSS = 400

_DATA_URI = re.compile(r"data:image/(png|jpeg);base64,([A-Za-z0-9+/]+={0,2})")
# CMYK and 16 bits of grey among them are printers' business, and come out in wrong colours.
_ODD_MODES = frozenset({"CMYK", "YCbCr", "LAB", "HSV", "I", "F", "I;16", "I;16B"})
# Thousands of scans of a few bytes each make a small JPEG take long.
_SCAN, _MAX_SCANS = b"\xff\xda", 100

# Pillow would warn of most bombs and go on; ours are refused by their size before a pixel is decoded.
Image.MAX_IMAGE_PIXELS = None
# The comments of a PNG are unpacked as soon as it is opened.
PngImagePlugin.MAX_TEXT_MEMORY = 1024 * 1024


class BadLogo(Exception):
    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)


def clean_logo(data_uri: str) -> bytes:
    """A PNG of our own making with the same picture, and nothing else of what was sent. Raises BadLogo."""
    file, kind = _file(data_uri)
    try:
        with Image.open(BytesIO(file), formats=[kind]) as image:
            _refuse_odd(image, kind)
            picture = image.convert("RGBA")
    except BadLogo:
        raise
    except Exception:  # the decoders raise whatever they trip over
        raise BadLogo("unreadable", f"Is no whole {kind} image.") from None
    picture.thumbnail((_KEPT_ACROSS, _KEPT_ACROSS), Image.Resampling.LANCZOS)
    buffer = BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def _file(data_uri: str) -> tuple[bytes, str]:
    # Asked before the pattern is, which need not see what is too long anyway.
    if len(data_uri) > len("data:image/jpeg;base64,") + -(-MAX_BYTES // 3) * 4:
        raise _too_large()
    match = _DATA_URI.fullmatch(data_uri)
    if match is None:
        raise _no_data_uri()
    try:
        file = base64.b64decode(match[2], validate=True)
    except binascii.Error:
        raise _no_data_uri() from None
    if len(file) > MAX_BYTES:
        raise _too_large()
    if file.count(_SCAN) > _MAX_SCANS and match[1] == "jpeg":
        raise BadLogo("unreadable", f"Has more than {_MAX_SCANS} scans.")
    return file, match[1].upper()


def _refuse_odd(image: Image.Image, kind: str) -> None:
    if max(image.size) > MAX_ACROSS:
        raise BadLogo("max_size", f"Must be at most {MAX_ACROSS} pixels wide and high.")
    # Some JPEG files are several in one, under a name of their own.
    if image.format != kind or getattr(image, "is_animated", False):
        raise BadLogo("animated", "Must be a single image.")
    if image.mode in _ODD_MODES:
        raise BadLogo("mode", "Must be in RGB, grey of 8 bits or a palette.")


def _too_large() -> BadLogo:
    return BadLogo("max_length", f"Must be at most {MAX_BYTES} bytes.")


def _no_data_uri() -> BadLogo:
    return BadLogo("invalid", "Must be data:image/png;base64,… or data:image/jpeg;base64,….")
