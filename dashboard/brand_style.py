"""The style sheet that gives the operator's colour and logo to the dashboard and to the header of the admin.

It replaces variables of Pico and of Django's admin.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from django.conf import settings

from common.brand import logo_url
from common.colors import BLACK, WHITE, mix, readable_on, text_on

# The backgrounds with the lowest contrast to text in Pico's schemes.
_LIGHT, _DARK = "#FBFBFC", "#181C25"
# WCAG 2, level AA, for text.
_RATIO, _HOVER_RATIO = 4.5, 7
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
    """ "" without a style sheet."""
    return f"/dashboard/brand/{version()}.css" if stylesheet() else ""


@lru_cache(maxsize=4)
def _stylesheet(color: str, logo: bytes | None, url: str) -> str:
    rules = []
    if color:
        light, dark = _variables(color, _LIGHT), _variables(color, _DARK)
        rules.append(f":root:not([data-theme]){{{light}}}")
        rules.append(f"#header{{{_admin_variables(color)}}}")
        rules.append(f"@media (prefers-color-scheme: dark){{:root:not([data-theme]){{{dark}}}}}")
    if logo is not None:
        width, height = int.from_bytes(logo[_WIDTH]), int.from_bytes(logo[_HEIGHT])
        rules.append(
            "header nav strong > a::before,#site-name > a::before{content:'';"
            "display:inline-block;vertical-align:middle;"
            f"block-size:{_LOGO_REM}rem;inline-size:{_LOGO_REM * width / height:.2f}rem;max-inline-size:8rem;"
            f"margin-inline-end:.5rem;background:url('{url}') center/contain no-repeat}}"
        )
    return "\n".join(rules)


def _variables(color: str, background: str) -> str:
    text = text_on(color)
    # Mixes with the opposite of the text's colour, so that the contrast grows.
    hovered = mix(color, BLACK if text == WHITE else WHITE, 15)
    values = {
        "primary": readable_on(background, color, _RATIO),
        "primary-hover": readable_on(background, color, _HOVER_RATIO),
        "primary-underline": readable_on(background, color, _RATIO) + "80",
        "primary-hover-underline": readable_on(background, color, _HOVER_RATIO),
        "primary-focus": readable_on(background, color, _RATIO) + "60",
        "primary-background": color,
        "primary-border": color,
        "primary-hover-background": hovered,
        "primary-hover-border": hovered,
        "primary-inverse": text,
    }
    return "".join(f"--pico-{name}:{value};" for name, value in values.items())


def _admin_variables(color: str) -> str:
    text = text_on(color)
    names = ("header-color", "header-branding-color", "header-link-color")
    return f"--header-bg:{color};" + "".join(f"--{name}:{text};" for name in names)
