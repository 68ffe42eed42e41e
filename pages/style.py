"""The appearance of the small pages, from `style.css` and the operator's colour."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from common.colors import readable_on, text_on

# WCAG 2, level AA, for text.
_RATIO = 4.5


def stylesheet(path: Path) -> str:
    """Return the file's rules without comments and without spaces that browsers need not read."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"(?<=[{};:,]) | (?=[{}(])", "", text).replace(";}", "}")


_STYLE = stylesheet(Path(__file__).with_name("style.css"))
_BRAND_STYLE = stylesheet(Path(__file__).with_name("brand.css"))
# The backgrounds with the lowest contrast to text in the accent colour.
_LIGHT = re.findall(r"--ground:(#\w+)", _STYLE)[0]
_DARK = re.findall(r"--card:(#\w+)", _STYLE)[1]


def style(added: str = "") -> str:
    """``added``: the rules of a page that needs more than the others."""
    return _style(settings.BRAND_COLOR, bool(settings.BRAND_NAME or settings.BRAND_LOGO), added)


def content_security_policy(added: str = "", forms: str = "*") -> str:
    """Load no resources but the logo, and run no scripts. Browsers also apply form-action to redirects after a form
    submission, and an unlocked link may redirect anywhere, so by default form-action allows every target.
    """
    return _policy(style(added), settings.BRAND_LOGO is not None, forms)


def style_source(text: str) -> str:
    """The source of an inline style in a Content-Security-Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@lru_cache(maxsize=8)
def _style(color: str, has_brand: bool, added: str) -> str:
    return _STYLE + (_BRAND_STYLE if has_brand else "") + added + (_colors(color) if color else "")


def _colors(color: str) -> str:
    light, dark = readable_on(_LIGHT, color, _RATIO), readable_on(_DARK, color, _RATIO)
    return (
        f":root{{--accent:{light};--on-accent:{text_on(light)}}}"
        f"@media(prefers-color-scheme:dark){{:root{{--accent:{dark};--on-accent:{text_on(dark)}}}}}"
    )


@lru_cache(maxsize=8)
def _policy(text: str, has_logo: bool, forms: str) -> str:
    images = "img-src 'self'; " if has_logo else ""
    return (
        f"default-src 'none'; style-src {style_source(text)}; {images}"
        f"form-action {forms}; frame-ancestors 'none'; base-uri 'none'"
    )
