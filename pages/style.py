"""The appearance of the small pages: refusals, previews and, in `sign_in`, the pages of accounts."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache

from django.conf import settings

from common.colors import readable_on, text_on

# The backgrounds with the lowest contrast to text in the accent colour.
_LIGHT, _DARK = "#f3f4f6", "#1d2026"
# WCAG 2, level AA, for text.
_RATIO = 4.5

_STYLE = (
    f":root{{color-scheme:light dark;--ground:{_LIGHT};--card:#fff;"
    "--text:#1b1f24;--soft:#4a5058;--line:#d5d9de;"
    "--field:#767676;--accent:#1d4ed8;--on-accent:#fff;--alert:#b42318;"
    "font:1rem/1.5 system-ui,sans-serif;background:var(--ground);color:var(--text)}"
    f"@media(prefers-color-scheme:dark){{:root{{--ground:#14161a;--card:{_DARK};"
    "--text:#eceef1;--soft:#b4bac3;"
    "--line:#3a4049;--field:#8b929c;--accent:#8ab4ff;--on-accent:#10131a;--alert:#ffb4a9}}"
    "body{margin:0;min-height:100vh;display:grid;place-items:center}"
    "main{box-sizing:border-box;width:min(28rem,100% - 2rem);padding:2rem;background:var(--card);"
    "border:1px solid var(--line);border-radius:.75rem}"
    "h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}"
    "p{margin:0;color:var(--soft)}"
    "[role=alert]{color:var(--alert)}"
    "ul{margin:1rem 0 0;padding-left:1.25rem}"
    "form{margin-top:1.5rem}"
    "label{display:block;font-weight:600}"
    "input,button{box-sizing:border-box;width:100%;font:inherit;padding:.6rem .75rem;border-radius:.4rem}"
    "input{margin:.25rem 0 1rem;border:1px solid var(--field);background:var(--card);color:inherit}"
    "button{border:1px solid var(--accent);background:var(--accent);color:var(--on-accent);font-weight:600;"
    "cursor:pointer}"
    ":focus-visible{outline:3px solid var(--accent);outline-offset:2px}"
    "code{overflow-wrap:anywhere}"
    "a{color:var(--accent)}"
)
_BRAND_STYLE = (
    ".brand{display:flex;align-items:center;gap:.75rem;margin:0 0 1.5rem;font-weight:600;overflow-wrap:anywhere}"
    ".brand img{display:block;width:auto;height:2.5rem;max-width:50%;margin:0;background:none}"
)


def style() -> str:
    return _style(settings.BRAND_COLOR, bool(settings.BRAND_NAME or settings.BRAND_LOGO))


def content_security_policy() -> str:
    """Load no resources but the logo, and run no scripts. Browsers also apply form-action to redirects after a form
    submission, and an unlocked link may redirect anywhere, so form-action must allow every target.
    """
    return _policy(style(), settings.BRAND_LOGO is not None)


def style_source(text: str) -> str:
    """The source of an inline style in a Content-Security-Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@lru_cache(maxsize=4)
def _style(color: str, has_brand: bool) -> str:
    return _STYLE + (_BRAND_STYLE if has_brand else "") + (_colors(color) if color else "")


def _colors(color: str) -> str:
    light, dark = readable_on(_LIGHT, color, _RATIO), readable_on(_DARK, color, _RATIO)
    return (
        f":root{{--accent:{light};--on-accent:{text_on(light)}}}"
        f"@media(prefers-color-scheme:dark){{:root{{--accent:{dark};--on-accent:{text_on(dark)}}}}}"
    )


@lru_cache(maxsize=4)
def _policy(text: str, has_logo: bool) -> str:
    images = "img-src 'self'; " if has_logo else ""
    return (
        f"default-src 'none'; style-src {style_source(text)}; {images}"
        "form-action *; frame-ancestors 'none'; base-uri 'none'"
    )
