"""The style sheet that gives the operator's colour and logo to the dashboard and to the header of the admin.

The dashboard derives every shade, and its contrast, from one variable (`front/tokens.css`). Django's admin has
variables of its own.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from django.conf import settings

from common.brand import logo_url
from common.colors import text_on

_LOGO_REM = 1.75
# The width and height in the header of a PNG file.
_WIDTH, _HEIGHT = slice(16, 20), slice(20, 24)


def stylesheet() -> str:
    """ "" if the operator set neither a colour nor a logo."""
    return _stylesheet(settings.BRAND_COLOR, settings.BRAND_LOGO, logo_url())


def version() -> str:
    """A part of the style sheet's URL, so that browsers may keep it."""
    return hashlib.sha256(stylesheet().encode()).hexdigest()[:16]


def url() -> str:
    """Return the path of the operator's style sheet, or "" if there is none."""
    return f"/dashboard/brand/{version()}.css" if stylesheet() else ""


@lru_cache(maxsize=4)
def _stylesheet(color: str, logo: bytes | None, url: str) -> str:
    rules = []
    if color:
        rules.append(f":root{{--brand:{color}}}")
        rules.append(f"#header{{{_admin_variables(color)}}}")
    if logo is not None:
        width, height = int.from_bytes(logo[_WIDTH]), int.from_bytes(logo[_HEIGHT])
        size = (
            f"block-size:{_LOGO_REM}rem;inline-size:{_LOGO_REM * width / height:.2f}rem;max-inline-size:8rem"
        )
        rules.append(f".brand-logo{{{size};object-fit:contain}}")
        rules.append(
            f"#site-name > a::before{{content:'';display:inline-block;vertical-align:middle;{size};"
            f"margin-inline-end:.5rem;background:url('{url}') center/contain no-repeat}}"
        )
    return "\n".join(rules)


def _admin_variables(color: str) -> str:
    text = text_on(color)
    names = ("header-color", "header-branding-color", "header-link-color")
    return f"--header-bg:{color};" + "".join(f"--{name}:{text};" for name in names)
