"""The HTML page of the dashboard: its frame, and the files that the first view needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, lru_cache

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.translation import gettext, override

from common.brand import brand_context
from dashboard import files
from dashboard.brand_style import url as brand_style_url
from qrcodes.design import default_foreground


def document(language: str, module: str, pages: Mapping[str, str]) -> files.Content:
    """The page whose module below ``front/pages`` is ``module``; ``pages``: the module of every path."""
    return _document(
        language,
        module,
        tuple(pages.items()),
        tuple(brand_context().items()),
        brand_color=settings.BRAND_COLOR,
        has_code_punctuation=settings.CUSTOM_CODE_PUNCTUATION,
    )


@lru_cache(maxsize=64)
def _document(
    language: str,
    module: str,
    pages: tuple[tuple[str, str], ...],
    brand: tuple[tuple[str, str], ...],
    *,
    brand_color: str,
    has_code_punctuation: bool,
) -> files.Content:
    first_files = first_view(f"pages/{module}")
    with override(language):
        name = gettext("URL shortener")
        html = render_to_string(
            "dashboard/page.html",
            {
                **dict(brand),
                "name": dict(brand)["brand_name"] or name,
                "brand_style": brand_style_url(),
                "qr_color": default_foreground(brand_color),
                "has_code_punctuation": has_code_punctuation,
                "files": f"/dashboard/files/{files.version()}",
                "modules": [name for name in first_files if not name.endswith(".css")]
                + [f"texts/{language}.js"],
                "styles": [name for name in first_files if name.endswith(".css")],
                "pages": dict(pages),
                "language": language,
                "languages": ",".join(files.languages()),
                "sign_in": settings.LOGIN_URL,
            },
        )
    return files.compressed(html.encode())


@cache
def _first_views() -> dict[str, list[str]]:
    loaded: dict[str, list[str]] = json.loads((files.FRONT / "first_views.json").read_text())
    return loaded


def first_view(module: str) -> list[str]:
    """The modules and style sheets that the first view of a page loads, so that browsers fetch all of them at once.

    ``make front`` writes the list, because a parser of JavaScript is a development tool.
    """
    return _first_views().get(module, [])
