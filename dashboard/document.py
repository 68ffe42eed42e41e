"""The HTML page of the dashboard: its frame, and the files that the first view needs."""

from __future__ import annotations

import re
from functools import lru_cache

from django.conf import settings
from django.template.loader import render_to_string

from common.brand import brand_context
from dashboard import files, modules
from dashboard.brand_style import url as brand_style_url
from qrcodes.drawing.colors import default_foreground

_NAME = re.compile(r'"nav\.name": "([^"]+)"')


def document(language: str, module: str) -> files.Content:
    """``module``: the front end's module of the page that the address names."""
    return _document(language, module, tuple(brand_context().items()), settings.BRAND_COLOR)


@lru_cache(maxsize=64)
def _document(
    language: str, module: str, brand: tuple[tuple[str, str], ...], brand_color: str
) -> files.Content:
    texts = f"texts/{language}.js"
    html = render_to_string(
        "dashboard/page.html",
        {
            **dict(brand),
            "name": dict(brand)["brand_name"] or _name(texts),
            "brand_style": brand_style_url(),
            "qr_color": default_foreground(brand_color),
            "files": f"/dashboard/files/{files.version()}",
            "modules": [*modules.with_imports("main.js", module), texts],
            "styles": modules.styles_of(module),
            "language": language,
            "languages": ",".join(files.languages()),
            "sign_in": settings.LOGIN_URL,
        },
    )
    return files.compressed(html.encode())


def _name(texts: str) -> str:
    """The name of a service without a brand. The front end shows the same text."""
    [name] = _NAME.findall(files.names()[texts].read_text())
    return str(name)
