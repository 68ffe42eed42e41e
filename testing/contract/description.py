"""The description of the API, and what agrees with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rest_framework.test import APIClient

from testing.error_bodies import whole_error
from testing.links.routing_fields import EVERYTHING

UNKNOWN_ID = "019a0000-0000-7000-8000-000000000000"
DOCUMENTS = {"/api/schema", "/api/docs"}
ERROR_PAGES = {"/api/docs/errors", "/api/docs/errors/{code}"}
GUIDE_PAGES = {
    f"/api/docs/{name}" for name in ("guide", "guide/{name}", "operations", "operations/{name}")
} | {"/api/"}


@pytest.fixture
def described(anonymous: APIClient) -> dict[str, Any]:
    return anonymous.get("/api/schema").json()


@pytest.fixture
def agrees(described: dict[str, Any]) -> Callable[..., Any]:
    """Checks a response against the description of its operation and status; returns its body."""
    closed = without_undescribed_keys(described)

    def check(response: Any, status: int) -> Any:
        request = response.wsgi_request
        operation = described["paths"][template_of(described, request.path)][request.method.lower()]
        assert response.status_code == status, response.content
        expected = operation["responses"][str(status)]
        validate(closed, expected["content"]["application/json"]["schema"], whole_error(response))
        assert response["Content-Type"] == "application/json"
        headers = described["components"]["headers"]
        names = {
            name
            for name, header in expected["headers"].items()
            if headers[header["$ref"].rpartition("/")[2]].get("required")
        }
        assert names <= set(response.headers)
        return response.json()

    return check


def template_of(described: dict[str, Any], path: str) -> str:
    candidates = [
        template
        for template in described["paths"]
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path)
    ]
    return min(candidates, key=lambda template: template.count("{"))


def without_undescribed_keys(described: dict[str, Any]) -> dict[str, Any]:
    closed = deepcopy(described)
    for schema in closed["components"]["schemas"].values():
        schema.setdefault("additionalProperties", False)
    return closed


def validate(described: dict[str, Any], schema: dict[str, Any], value: Any) -> None:
    validator = Draft202012Validator(
        {**schema, "components": described["components"]},
        format_checker=Draft202012Validator.FORMAT_CHECKER,
    )
    assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)] == []


WHOLE = {
    "originalUrl": "https://example.com/page",
    "customCode": "Spring26",
    "title": "Spring",
    "description": "All of it",
    "tags": ["sale"],
    "expiresAt": "2099-01-01",
    "password": "open sesame",
    "domainId": "base",
    "utmTemplateId": None,
    "utm": {"source": "mail", "term": None},
    "restrictions": {"maxClicks": 5, "allowedCountries": ["de"], "allowedDevices": ["mobile"]},
    "redirectType": 301,
    "isActive": False,
    "externalId": "order-4711",
    "isArchived": True,
    **EVERYTHING,
}
QR_CODE = {
    "size": 512,
    "format": "svg",
    "errorCorrectionLevel": "Q",
    "foregroundColor": "#1a2B3c",
    "backgroundColor": "#FFFFEE",
    "margin": 2,
    "style": "dots",
    "widthMm": 50,
    "frameText": "Scan me",
    "framePosition": "above",
    "logo": (
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptV"
        "AAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
    ),
}
REPORTS = ["", "/devices", "/geographic", "/clicks"]
