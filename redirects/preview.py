"""The page of a preview, ``GET /{code}+``, which shows where a link leads. Both lanes send it."""

from __future__ import annotations

import json
from functools import lru_cache
from urllib.parse import urlsplit

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.html import escape

from common.brand import brand_context
from common.http.browser_headers import protect_page
from pages.style import content_security_policy, style

# Stand for the variables of the template, in the order in which it uses them. None of them occurs in its text.
_VARIABLES = {"host": "[host]", "destination": "[destination]", "path": "[path]"}


def preview_body(path: str, destination: str, *, in_json: bool) -> str:
    """Return the page or the JSON that names the destination.

    ``path``: of the link itself. ``destination``: in ASCII, as it is sent, so that a homograph host is recognisable.
    """
    if in_json:
        return json.dumps({"success": True, "destination": destination})
    before, after_host, after_destination, after_path = _pieces(style(), *brand_context().values())
    host = escape(urlsplit(destination).netloc)
    return f"{before}{host}{after_host}{escape(destination)}{after_destination}{escape(path)}{after_path}"


def preview_response(body: str, *, in_json: bool) -> HttpResponse:
    response = HttpResponse(body, content_type="application/json" if in_json else None)
    response["Cache-Control"] = "no-store"
    if in_json:
        response["X-Content-Type-Options"] = "nosniff"
    else:
        protect_page(response, content_security_policy())
    response["X-Robots-Tag"] = "noindex"
    return response


@lru_cache(maxsize=4)
def _pieces(page_style: str, brand_name: str, brand_logo: str) -> list[str]:
    """The text of the page around its variables. Rendering the template takes a hundred times as long."""
    brand = {"brand_name": brand_name, "brand_logo": brand_logo}
    rest: str = render_to_string("redirects/preview.html", {**_VARIABLES, **brand, "style": page_style})
    pieces = []
    for variable in _VARIABLES.values():
        piece, _, rest = rest.partition(variable)
        pieces.append(piece)
    return [*pieces, rest]
