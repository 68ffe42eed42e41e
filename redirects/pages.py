"""Answers to people and programs whose link is not followed: a small page, or JSON for those who ask for it."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from common.browser_headers import protect_page
from common.errors import TooManyAttempts
from redirects.outcomes import mark
from redirects.refusals import Refusal

RETRY_AFTER_SECONDS = "2"

STYLE = (
    ":root{color-scheme:light dark;--ground:#f3f4f6;--card:#fff;--text:#1b1f24;--soft:#4a5058;--line:#d5d9de;"
    "--field:#767676;--accent:#1d4ed8;--on-accent:#fff;--alert:#b42318;"
    "font:1rem/1.5 system-ui,sans-serif;background:var(--ground);color:var(--text)}"
    "@media(prefers-color-scheme:dark){:root{--ground:#14161a;--card:#1d2026;--text:#eceef1;--soft:#b4bac3;"
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
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
# Nothing is loaded and nothing runs. Browsers apply form-action to the redirects that follow a form, too, and an
# unlocked link leads anywhere, so it has to stay open.
CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; "
    "form-action *; frame-ancestors 'none'; base-uri 'none'"
)

_QUALITY = re.compile(r"q=[01](?:\.[0-9]{0,3})?", re.ASCII)


def refuse(
    request: HttpRequest, refusal: Refusal, *, template: str = "redirects/refusal.html"
) -> HttpResponse:
    if prefers_json(request):
        body = {"success": False, "message": refusal.message, "reason": refusal.reason}
        response: HttpResponse = JsonResponse(body, status=refusal.status)
        response["Cache-Control"] = "no-store"
        response["X-Content-Type-Options"] = "nosniff"
    else:
        response = page(request, template, {"refusal": refusal}, status=refusal.status)
    response["X-Robots-Tag"] = "noindex"
    if refusal.status == 503:
        response["Retry-After"] = RETRY_AFTER_SECONDS
    return mark(response, refusal.reason)


def refuse_attempts(request: HttpRequest, refusal: Refusal, error: TooManyAttempts) -> HttpResponse:
    """Says with the refusal for how long it holds."""
    response = refuse(request, refusal)
    for name, value in error.headers.items():
        response[name] = value
    return response


def prefers_json(request: HttpRequest) -> bool:
    """Whether JSON is wanted more, or named more exactly, than a page (RFC 9110 12.5.1).

    Django's own reading of the header raises for some that are malformed, and takes parameters for another type.
    """
    wanted = {"application/json": (0.0, 0), "text/html": (0.0, 0)}
    for item in request.headers.get("Accept", "").split(",")[:50]:
        media_range, *parameters = (part.strip().lower() for part in item.split(";")[:10])
        for media_type, (_, exactness) in wanted.items():
            ranges = ["*/*", f"{media_type.partition('/')[0]}/*", media_type]
            if media_range in ranges and ranges.index(media_range) + 1 > exactness:
                wanted[media_type] = (_quality(parameters), ranges.index(media_range) + 1)
    return wanted["application/json"][0] > 0 and wanted["application/json"] > wanted["text/html"]


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        if _QUALITY.fullmatch(parameter):
            return float(parameter[2:])
    return 1.0


def page(request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    html = render_to_string(template, {**context, "style": STYLE}, request)
    response = HttpResponse(html, status=status)
    response["Cache-Control"] = "no-store"
    protect_page(response, CONTENT_SECURITY_POLICY)
    return response
