"""Parsing of BRAND_NAME, BRAND_LOGO and BRAND_COLOR."""

from __future__ import annotations

import base64
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from common.colors import is_color
from qrcodes.drawing.logos import MAX_BYTES, BadLogo, clean_logo

MAX_NAME_CHARACTERS = 40
_SIGNATURES = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg"}


def parse_name(text: str) -> str:
    if len(text) > MAX_NAME_CHARACTERS or not text.isprintable():
        raise ImproperlyConfigured(
            f"BRAND_NAME must have at most {MAX_NAME_CHARACTERS} printable characters, not {text!r}."
        )
    return text


def parse_color(text: str) -> str:
    """Return the colour in upper case, or ""."""
    if text and not is_color(text):
        raise ImproperlyConfigured(f"BRAND_COLOR must be a hex colour such as #1A2B3C, not {text!r}.")
    return text.upper()


def parse_logo(path: str) -> bytes | None:
    """Read the file, and return the picture re-encoded as a PNG. It has to be valid as the logo of a QR code."""
    if not path:
        return None
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ImproperlyConfigured(f"BRAND_LOGO: cannot read {path}: {error.strerror}.") from None
    kind = next((name for start, name in _SIGNATURES.items() if content.startswith(start)), None)
    if kind is None:
        raise ImproperlyConfigured(f"BRAND_LOGO: {path} is neither a PNG nor a JPEG file.")
    try:
        return clean_logo(f"data:image/{kind};base64,{base64.b64encode(content).decode()}")
    except BadLogo as error:
        raise ImproperlyConfigured(f"BRAND_LOGO: {path} is not usable. {error.message}") from None
