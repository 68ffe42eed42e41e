"""The description under /api/schema and the service agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import URLPattern, URLResolver, get_resolver
from openapi_spec_validator import OpenAPIV31SpecValidator

from testing.contract.description import (
    DOCUMENTS,
    ERROR_PAGES,
    GUIDE_PAGES,
    QR_CODE,
    REPORTS,
    validate,
    without_undescribed_keys,
)
from testing.contract.description import described as described


def operations(described: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def routes(patterns: list[Any], prefix: str = "/") -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        path = prefix + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern) and path.startswith("/api/"):
            yield path, pattern.callback


@pytest.mark.slow
def test_the_description_is_valid_openapi_3_1(described: dict[str, Any]) -> None:
    assert described["openapi"] == "3.1.0"
    OpenAPIV31SpecValidator(described).validate()


@pytest.mark.slow
def test_the_description_is_exported_without_a_warning(tmp_path: Path) -> None:
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "schema.yaml"))
    assert (tmp_path / "schema.yaml").read_text().startswith("openapi: 3.1.0\n")


def test_every_route_and_method_is_described_and_nothing_else(described: dict[str, Any]) -> None:
    served = {
        (path, method)
        for path, view in routes(get_resolver().url_patterns)
        if path not in DOCUMENTS | ERROR_PAGES | GUIDE_PAGES
        for method in view.actions
        if method != "head"
    }
    assert {(path, method) for path, method, _ in operations(described)} == served


def test_every_operation_has_a_description(described: dict[str, Any]) -> None:
    all_operations = [operation for _, _, operation in operations(described)]
    assert all(operation["summary"].endswith(".") for operation in all_operations)
    assert all(operation["description"].endswith(".") for operation in all_operations)
    assert len({operation["operationId"] for operation in all_operations}) == len(all_operations)
    tags = {tag["name"] for tag in described["tags"]}
    assert {tag for operation in all_operations for tag in operation["tags"]} == tags


def test_every_refusal_uses_the_same_error_schema(described: dict[str, Any]) -> None:
    refusals = {
        response["content"]["application/json"]["schema"]["$ref"]
        for _, _, operation in operations(described)
        for status, response in operation["responses"].items()
        # The web server's response, not the API's.
        if status >= "400" and status != "414"
    }
    assert refusals == {"#/components/schemas/Error"}


def test_every_example_matches_its_schema(described: dict[str, Any]) -> None:
    closed = without_undescribed_keys(described)
    for path, method, operation in operations(described):
        bodies = [operation["requestBody"]] if "requestBody" in operation else []
        for body in [*bodies, *operation["responses"].values()]:
            if "content" not in body:
                assert body in [operation["responses"].get(status) for status in ("304", "414")]
                continue
            for content in body["content"].values():
                assert content["examples"], (path, method)
                for example in content["examples"].values():
                    validate(closed, content["schema"], example["value"])


def test_credentials(described: dict[str, Any]) -> None:
    schemes = described["components"]["securitySchemes"]
    assert (schemes["ApiKeyAuth"]["type"], schemes["ApiKeyAuth"]["name"]) == ("apiKey", "X-API-Key")
    assert (schemes["bearerAuth"]["type"], schemes["bearerAuth"]["scheme"]) == ("http", "bearer")
    expected: dict[str, list[dict[str, list[str]]]] = {
        "/api/auth/login": [],
        "/api/auth/refresh": [],
        "/api/auth/api-key": [{"bearerAuth": []}],
        "/api/auth/regenerate-api-key": [{"bearerAuth": []}],
        "/api/auth/me": [{"bearerAuth": []}],
        "/api/auth/me/export": [{"bearerAuth": []}],
        "/api/auth/change-password": [{"bearerAuth": []}],
        "/api/auth/logout": [{"bearerAuth": []}],
        "/api/auth/sessions": [{"bearerAuth": []}],
        "/api/auth/sessions/{id}": [{"bearerAuth": []}],
        "/api/invitations/{token}/accept": [{"bearerAuth": []}],
        "/api/keys": [{"bearerAuth": []}],
        "/api/keys/{id}": [{"bearerAuth": []}],
        "/api/keys/{id}/rotate": [{"bearerAuth": []}],
        "/api/token-issuers": [{"bearerAuth": []}],
        "/api/token-issuers/{id}": [{"bearerAuth": []}],
    }
    for path, method, operation in operations(described):
        either: list[dict[str, list[str]]] = [{"ApiKeyAuth": []}, {"bearerAuth": []}]
        assert operation.get("security", []) == expected.get(path, either), (path, method)


def test_limits_and_choices_are_visible(described: dict[str, Any]) -> None:
    new = described["components"]["schemas"]["CreateLinkRequest"]["properties"]
    assert (
        new["customCode"].items()
        >= {"pattern": "^[A-Za-z0-9]{3,50}$", "minLength": 3, "maxLength": 50}.items()
    )
    assert (new["title"]["maxLength"], new["description"]["maxLength"]) == (200, 500)
    assert (new["tags"]["maxItems"], new["tags"]["items"]["maxLength"]) == (50, 50)
    redirect_type = new["redirectType"]
    assert redirect_type["oneOf"] == [{"$ref": "#/components/schemas/RedirectType"}, {"type": "null"}]
    assert redirect_type["description"] == "Default: `302`."
    assert described["components"]["schemas"]["RedirectType"] == {"type": "integer", "enum": [301, 302]}
    restrictions = described["components"]["schemas"]["RestrictionsRequest"]["properties"]
    assert restrictions["maxClicks"].items() >= {"minimum": 1, "maximum": 2_147_483_647}.items()
    assert restrictions["allowedDevices"]["items"]["allOf"] == [{"$ref": "#/components/schemas/DeviceType"}]
    assert described["components"]["schemas"]["DeviceType"]["enum"] == ["desktop", "mobile", "tablet"]
    query = {
        parameter["name"]: parameter["schema"]
        for parameter in described["paths"]["/api/urls"]["get"]["parameters"]
    }
    assert query["page"].items() >= {"minimum": 1, "default": 1}.items()
    assert query["limit"].items() >= {"minimum": 1, "maximum": 100, "default": 20}.items()
    assert (
        query["sortBy"].items()
        >= {"enum": ["createdAt", "clickCount", "title"], "default": "createdAt"}.items()
    )
    assert query["sortOrder"].items() >= {"enum": ["asc", "desc"], "default": "desc"}.items()
    assert query["isActive"]["type"] == "boolean"


def test_limits_and_choices_of_qr_codes_are_visible(described: dict[str, Any]) -> None:
    new = described["components"]["schemas"]["CreateQrCodeRequest"]
    properties = new["properties"]
    assert new["required"] == ["urlId"]
    assert set(properties) == {"urlId", *QR_CODE}
    assert properties["size"].items() >= {"minimum": 100, "maximum": 2000}.items()
    assert properties["margin"].items() >= {"minimum": 0, "maximum": 10}.items()
    assert properties["foregroundColor"]["pattern"] == "^#[0-9A-Fa-f]{6}$"
    choices = {
        "format": ("QrCodeFormat", ["png", "svg", "jpeg", "pdf"]),
        "framePosition": ("QrFramePosition", ["below", "above"]),
        "errorCorrectionLevel": ("ErrorCorrectionLevel", ["L", "M", "Q", "H"]),
        "style": ("QrCodeStyle", ["square", "rounded", "dots"]),
    }
    for name, (component, values) in choices.items():
        assert properties[name]["allOf"] == [{"$ref": f"#/components/schemas/{component}"}]
        assert described["components"]["schemas"][component] == {"type": "string", "enum": values}
    defaults = {
        "size": "300",
        "margin": "4",
        "format": "png",
        "errorCorrectionLevel": "M",
        "style": "square",
        "foregroundColor": "#000000",
        "backgroundColor": "#FFFFFF",
    }
    for name, default in defaults.items():
        assert properties[name]["description"].endswith(f"Default: `{default}`.")


def test_limits_of_reports_are_visible(described: dict[str, Any]) -> None:
    def query(part: str) -> dict[str, Any]:
        parameters = described["paths"][f"/api/analytics/{{urlId}}{part}"]["get"]["parameters"]
        return {
            parameter["name"]: parameter["schema"] for parameter in parameters if parameter["in"] == "query"
        }

    assert query("")["limit"].items() >= {"minimum": 1, "maximum": 100, "default": 10}.items()
    assert query("")["interval"].items() >= {"enum": ["hour", "day", "month"], "default": "day"}.items()
    for part in ("/devices", "/geographic"):
        assert query(part)["limit"].items() >= {"minimum": 1, "maximum": 1000, "default": 1000}.items()
    assert query("/clicks")["limit"].items() >= {"minimum": 1, "maximum": 100, "default": 20}.items()
    assert (
        query("/clicks")["format"].items()
        >= {"enum": ["json", "csv", "jsonl", "parquet"], "default": "json"}.items()
    )
    assert all(query(part)["timezone"]["default"] == "UTC" for part in REPORTS)


def test_every_response_describes_the_limit_headers(described: dict[str, Any]) -> None:
    for path, method, operation in operations(described):
        assert "429" in operation["responses"], (path, method)
        for status, response in operation["responses"].items():
            if status == "414":
                continue  # Not the API's.
            names = set(response["headers"])
            assert names >= {
                "RateLimit",
                "RateLimit-Limit",
                "RateLimit-Remaining",
                "RateLimit-Reset",
                "RateLimit-Policy",
            }
            assert ("Retry-After" in names) == (status in {"429", "503"})
            assert ("WWW-Authenticate" in names) == (status == "401")


def test_creating_operations_describe_the_idempotency_key(described: dict[str, Any]) -> None:
    named = {
        path
        for path, _, operation in operations(described)
        if "Idempotency-Key" in {parameter["name"] for parameter in operation.get("parameters", [])}
    }
    created = {path for path, _, operation in operations(described) if "201" in operation["responses"]}
    # These have a result for each link.
    created_many = {"/api/urls/bulk", "/api/urls/import"}
    # Their responses have a secret, which no stored response repeats.
    shown_once = {"/api/keys", "/api/workspaces/{id}/invitations"}
    # A second one with the same fields is refused.
    once = {"/api/token-issuers"}
    assert named == (created | created_many) - shown_once - once
    for path in named:
        responses = described["paths"][path]["post"]["responses"]
        assert "Idempotent-Replayed" in responses["200" if path in created_many else "201"]["headers"]
        assert "idempotency_in_progress" in codes_of(responses["409"])
        assert codes_of(responses["422"]) == {"idempotency_mismatch"}


def codes_of(response: dict[str, Any]) -> set[str]:
    return {
        example["value"]["code"] for example in response["content"]["application/json"]["examples"].values()
    }
