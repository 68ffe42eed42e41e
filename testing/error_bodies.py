"""Checks what every error response of the API has in common, wherever a test reads one."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.test import client

from common.error_catalogue import DOCS_PATH
from common.rest.envelope import PROBLEM_JSON
from shortener_project.web.middleware import is_on_system_host

_parse_json = client.ClientMixin._parse_json


def install() -> None:
    """Let ``response.json()`` of the test clients check `docs` and `requestId`, and leave them out.

    Tests then compare errors by what makes them different. `whole_error` has the whole body.
    """
    client.ClientMixin._parse_json = _checked_json


def whole_error(response: Any) -> Any:
    return _parse_json(None, response)


def without_request_id(response: Any) -> bytes:
    """The body of an error, for comparisons of responses that must tell nothing apart."""
    content: bytes = response.content.replace(response["X-Request-ID"].encode(), b"")
    return content


def _checked_json(test_client: Any, response: Any, **options: Any) -> Any:
    body, request = _parse_json(test_client, response, **options), response.wsgi_request
    is_of_api = "docs" in body or (request.path.startswith("/api/") and is_on_system_host(request))
    if response.status_code < 400 or not is_of_api or response["Content-Type"] == PROBLEM_JSON:
        return body
    assert body["docs"] == f"{settings.BASE_URL}{DOCS_PATH}/{body['code']}"
    assert body.get("requestId") == response.headers.get("X-Request-ID")
    return {name: value for name, value in body.items() if name not in ("docs", "requestId")}
