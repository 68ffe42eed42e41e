"""Responses for people: a small page, or JSON if the client prefers it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.translation import override

from common.brand import brand_context
from common.errors import TooManyAttempts
from common.http.browser_headers import protect_page
from common.http.languages import page_language
from pages.refusals import METHOD_NOT_ALLOWED, Refusal
from pages.style import content_security_policy, style

RETRY_AFTER_SECONDS = "2"

_QUALITY = re.compile(r"q=[01](?:\.[0-9]{0,3})?", re.ASCII)


def refuse(
    request: HttpRequest, refusal: Refusal, *, template: str = "pages/refusal.html", **details: Any
) -> HttpResponse:
    """``details`` are further keys of the JSON form."""
    if prefers_json(request):
        body = {"success": False, "message": refusal.message, "reason": refusal.reason, **details}
        if sends_json(request):
            body["code"] = refusal.reason
        response: HttpResponse = JsonResponse(body, status=refusal.status)
        response["Cache-Control"] = "no-store"
        response["X-Content-Type-Options"] = "nosniff"
    else:
        response = page(
            request, template, {"refusal": refusal, "words": refusal.words}, status=refusal.status
        )
    response["X-Robots-Tag"] = "noindex"
    response["X-Refusal-Reason"] = refusal.reason
    if refusal.status == 503:
        response["Retry-After"] = RETRY_AFTER_SECONDS
    return response


def refuse_method(request: HttpRequest, methods: Sequence[str]) -> HttpResponse:
    """``methods`` are those that the address supports."""
    response = refuse(request, METHOD_NOT_ALLOWED)
    response["Allow"] = ", ".join(methods)
    return response


def refuse_attempts(request: HttpRequest, refusal: Refusal, error: TooManyAttempts) -> HttpResponse:
    """Add the rate limit headers of ``error`` to the refusal, and the wait to its JSON form."""
    response = refuse(request, refusal, retryAfter=error.retry_after)
    for name, value in error.headers.items():
        response[name] = value
    return response


def sends_json(request: HttpRequest) -> bool:
    """Whether a program sends a JSON body. Other sites cannot: browsers do not send this media type across origins
    unless the server consents, and this one never does (CORS preflights get 405).
    """
    return request.method == "POST" and request.content_type == "application/json"


def prefers_json(request: HttpRequest) -> bool:
    return sends_json(request) or accepts_json(request.headers.get("Accept", ""))


def accepts_json(accept: str) -> bool:
    """Whether the header prefers JSON to HTML, by quality and then by specificity (RFC 9110 12.5.1).

    Django's own parser raises on some malformed headers, and treats a type with parameters as a different type.
    """
    preferences = {"application/json": (0.0, 0), "text/html": (0.0, 0)}
    for item in accept.split(",")[:50]:
        media_range, *parameters = (part.strip().lower() for part in item.split(";")[:10])
        for media_type, (_, exactness) in preferences.items():
            ranges = ["*/*", f"{media_type.partition('/')[0]}/*", media_type]
            if media_range in ranges and ranges.index(media_range) + 1 > exactness:
                preferences[media_type] = (_quality(parameters), ranges.index(media_range) + 1)
    return (
        preferences["application/json"][0] > 0 and preferences["application/json"] > preferences["text/html"]
    )


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        if _QUALITY.fullmatch(parameter):
            return float(parameter[2:])
    return 1.0


def page(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    *,
    status: int = 200,
    added_style: str = "",
    forms: str = "*",
) -> HttpResponse:
    """``added_style`` and ``forms``: see `pages.style`. A page in one language names it in ``context``."""
    refusal = context.get("refusal")
    brand = brand_context() if refusal is None or refusal.is_branded else {}
    language = context.get("language") or page_language(request.headers.get("Accept-Language", ""))
    with override(language):
        html = render_to_string(
            template, {**brand, **context, "language": language, "style": style(added_style)}, request
        )
    response = HttpResponse(html, status=status)
    response["Cache-Control"] = "no-store"
    protect_page(response, content_security_policy(added_style, forms))
    return response
