"""The OpenAPI 3.1 description of the API, and its documentation page.

Both are the same for all clients until the next release, so each worker renders them once. The page loads
nothing from other hosts and needs neither sessions nor cookies.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from threading import Lock
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpResponse
from django.templatetags.static import static
from django.utils.cache import get_conditional_response
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from common.errors import NotFound
from common.http.browser_headers import protect_page
from common.openapi.generated import generate
from shortener_project.web.documents import is_missing_document, missing_document

# Only one thread does the work.
_rendering = Lock()

_SWAGGER_UI = "drf_spectacular_sidecar/swagger-ui-dist"
_STYLE = "body{margin:0;background:#fafafa}"
# The schema's URL is relative to the page. Swagger UI's public validator is switched off.
_SCRIPT = (
    'SwaggerUIBundle({url:"schema",dom_id:"#swagger-ui",deepLinking:true,displayRequestDuration:true,'
    "validatorUrl:null,presets:[SwaggerUIBundle.presets.apis]})"
)


def _hash_source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# Swagger UI draws icons from data: URLs. It sets styles through the DOM, which the policy does not restrict.
_CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; script-src 'self' {_hash_source(_SCRIPT)}; style-src 'self' {_hash_source(_STYLE)}; "
    "img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)


class PublicDocument(APIView):
    http_method_names = ["get", "head"]
    authentication_classes = []
    permission_classes = []
    throttle_classes = []
    # Not part of the API itself.
    schema = None

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, NotFound) and is_missing_document(self.request._request):
            return missing_document(self.request._request)  # type: ignore[return-value] # REST framework takes both
        return super().handle_exception(exc)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        final: Response = super().finalize_response(request, response, *args, **kwargs)
        final.headers.setdefault("Cache-Control", "no-store")
        final["X-Content-Type-Options"] = "nosniff"
        return final


class SchemaView(PublicDocument):
    def get(self, request: Request) -> HttpResponse:
        return _conditional(request, _render_once(), "application/json")


class DocsView(PublicDocument):
    def get(self, request: Request) -> HttpResponse:
        response = _conditional(request, _page(), "text/html; charset=utf-8")
        protect_page(response, _CONTENT_SECURITY_POLICY)
        return response


def _conditional(request: Request, body: bytes, content_type: str) -> HttpResponse:
    response = HttpResponse(body, content_type)
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    response["ETag"] = etag
    response["Cache-Control"] = "no-cache"
    return get_conditional_response(request, etag=etag, response=response) or response


def _render_once() -> bytes:
    with _rendering:
        return render_schema()


def described() -> dict[str, Any]:
    """The description as an object, for another page."""
    description: dict[str, Any] = orjson.loads(_render_once())
    return description


@cache
def render_schema() -> bytes:
    return orjson.dumps(generate(), default=str)


@cache
def _page() -> bytes:
    title = f"{settings.SPECTACULAR_SETTINGS['TITLE']}: API"
    return f"""<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="{static(f"{_SWAGGER_UI}/favicon-32x32.png")}">
<link rel="stylesheet" href="{static(f"{_SWAGGER_UI}/swagger-ui.css")}">
<style>{_STYLE}</style>
<div id="swagger-ui"></div>
<noscript>This page needs JavaScript. <a href="schema">The description itself</a> does not.</noscript>
<script src="{static(f"{_SWAGGER_UI}/swagger-ui-bundle.js")}"></script>
<script>{_SCRIPT}</script>
</html>
""".encode()
