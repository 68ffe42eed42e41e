"""The description under /api/schema and the service agree."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from html.parser import HTMLParser
from pathlib import Path
from threading import Barrier
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.core.management import call_command
from django.db import OperationalError
from django.urls import URLPattern, URLResolver, get_resolver
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from analytics.models import Kind
from analytics.visitors import geo
from domains.verification import resolver
from links import selectors
from shortener_project.web.schema import render_schema
from testing.accounts import PASSWORD, log_in, token_client
from testing.dns_server import dns_server
from testing.domains import publish
from testing.facts import Fact, record
from testing.service.polling import DEADLINE
from tests.links.routing.fields import EVERYTHING

UNKNOWN_ID = "019a0000-0000-7000-8000-000000000000"
DOCUMENTS = {"/api/schema", "/api/docs"}


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
        validate(closed, expected["content"]["application/json"]["schema"], response.json())
        assert response["Content-Type"] == "application/json"
        names = {
            name for name in expected["headers"] if described["components"]["headers"][name].get("required")
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


def test_the_description_is_valid_openapi_3_1(described: dict[str, Any]) -> None:
    assert described["openapi"] == "3.1.0"
    OpenAPIV31SpecValidator(described).validate()


def test_the_description_is_exported_without_a_warning(tmp_path: Path) -> None:
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "schema.yaml"))
    assert (tmp_path / "schema.yaml").read_text().startswith("openapi: 3.1.0\n")


def test_every_route_and_method_is_described_and_nothing_else(described: dict[str, Any]) -> None:
    served = {
        (path, method)
        for path, view in routes(get_resolver().url_patterns)
        if path not in DOCUMENTS
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
                assert body == operation["responses"]["414"]
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
        "/api/auth/change-password": [{"bearerAuth": []}],
        "/api/auth/logout": [{"bearerAuth": []}],
        "/api/auth/sessions": [{"bearerAuth": []}],
        "/api/auth/sessions/{id}": [{"bearerAuth": []}],
        "/api/invitations/{token}/accept": [{"bearerAuth": []}],
        "/api/keys": [{"bearerAuth": []}],
        "/api/keys/{id}": [{"bearerAuth": []}],
        "/api/keys/{id}/rotate": [{"bearerAuth": []}],
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


WHOLE = {
    "originalUrl": "https://example.com/page",
    "customCode": "Spring26",
    "title": "Spring",
    "description": "All of it",
    "tags": ["sale"],
    "expiresAt": "2099-01-01",
    "password": "open sesame",
    "domainId": "base",
    "utm": {"source": "mail", "term": None},
    "restrictions": {"maxClicks": 5, "allowedCountries": ["de"], "allowedDevices": ["mobile"]},
    "redirectType": 301,
    "isActive": False,
    **EVERYTHING,
}


def test_many_links_are_as_described(
    api: APIClient, anonymous: APIClient, described: dict[str, Any], agrees: Callable[..., Any]
) -> None:
    schemas = described["components"]["schemas"]
    for name, field in [
        ("BulkCreate", "urls"),
        ("BulkUpdate", "urls"),
        ("BulkUpdate", "ids"),
        ("BulkDelete", "ids"),
        ("Move", "ids"),
    ]:
        most = schemas[f"{name}Request"]["properties"][field]
        assert most.items() >= {"minItems": 1, "maxItems": 1000}.items()
    body = {"urls": [{"originalUrl": "https://example.com/"}, WHOLE, {"originalUrl": 5}, {}]}
    validate(described, {"$ref": "#/components/schemas/BulkCreateRequest"}, body)
    results = agrees(api.post("/api/urls/bulk", body), 200)["data"]["results"]
    assert [result["status"] for result in results] == [201, 201, 400, 400]
    ids = [result["url"]["_id"] for result in results[:2]]
    whole = {name: value for name, value in WHOLE.items() if name not in ("originalUrl", "domainId")}
    for changes in (
        {"ids": [*ids, UNKNOWN_ID], "data": {"title": "x"}},
        {"urls": [{"_id": ids[0], **whole, "isActive": False}, {"_id": ids[1], "redirectType": 303}, {}]},
    ):
        validate(described, {"$ref": "#/components/schemas/BulkUpdateRequest"}, changes)
        agrees(api.post("/api/urls/bulk-update", changes), 200)
    team = agrees(api.post("/api/workspaces", {"name": "Marketing"}), 201)["data"]["workspace"]["_id"]
    agrees(api.post("/api/urls/move", {"ids": ["x"], "workspaceId": UNKNOWN_ID}), 404)
    agrees(api.post("/api/urls/move", {"ids": [ids.pop(), "x"], "workspaceId": team}), 200)
    agrees(api.post("/api/urls/bulk-delete", {"ids": [*ids, "x"]}), 200)
    assert len(agrees(api.post("/api/urls/bulk-delete", {"ids": [*ids, "x"]}), 404)["data"]["results"]) == 2
    body = {
        "urls": [
            {"originalUrl": "https://example.com/", "colour": 1, "pasword": 1},
            {"originalUrl": "https://example.com/", "colour": 1},
        ]
    }
    assert [
        result["status"] for result in agrees(api.post("/api/urls/bulk", body), 200)["data"]["results"]
    ] == [
        400,
        201,
    ]
    for path in ("bulk", "bulk-update", "bulk-delete", "import", "move"):
        agrees(api.post(f"/api/urls/{path}", {}), 400)
        agrees(anonymous.post(f"/api/urls/{path}", {}), 401)
        agrees(api.post(f"/api/urls/{path}", b" " * 9_000_000, content_type="application/json"), 413)


def test_files_are_as_described(
    api: APIClient, anonymous: APIClient, described: dict[str, Any], agrees: Callable[..., Any]
) -> None:
    rows = "originalUrl,customCode,clickCount\nhttps://example.com/,spring,7\nhttps://example.com/,admin,\n"
    for dry_run in (True, False):
        body = {"content": rows, "dryRun": dry_run, "format": "own", "domainId": "base"}
        validate(described, {"$ref": "#/components/schemas/ImportRequest"}, body)
        results = agrees(api.post("/api/urls/import", body), 200)["data"]["results"]
        assert [result["status"] for result in results] == [201, 409]
    agrees(api.get(f"/api/urls/{results[0]['url']['_id']}"), 200)
    agrees(api.post("/api/urls/import", {"content": rows, "domainId": UNKNOWN_ID}), 404)
    agrees(api.post("/api/urls/import", {"content": "x"}), 400)
    responses = described["paths"]["/api/urls/export"]["get"]["responses"]["200"]["content"]
    files = [api.get(f"/api/urls/export?format={name}") for name in ("csv", "jsonl")]
    assert all(b"".join(file.streaming_content) for file in files)
    served = {file["Content-Type"].partition(";")[0] for file in files}
    assert served == set(responses)
    agrees(api.get("/api/urls/export?format=xlsx"), 400)
    assert api.post("/api/urls/bulk-export", {"ids": ["x"]}).status_code == 200
    agrees(api.post("/api/urls/bulk-export", {"ids": []}), 400)
    agrees(anonymous.get("/api/urls/export"), 401)


QR_CODE = {
    "size": 512,
    "format": "svg",
    "errorCorrectionLevel": "Q",
    "foregroundColor": "#1a2B3c",
    "backgroundColor": "#FFFFEE",
    "margin": 2,
    "style": "dots",
    "logo": (
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptV"
        "AAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
    ),
}


@pytest.mark.parametrize("body", [{"originalUrl": "https://example.com/"}, WHOLE], ids=["least", "whole"])
def test_links_are_as_described(api: APIClient, agrees: Callable[..., Any], body: dict[str, Any]) -> None:
    link = agrees(api.post("/api/urls", body), 201)["data"]["url"]
    path = f"/api/urls/{link['_id']}"
    agrees(api.get("/api/urls"), 200)
    whole = agrees(api.get(path), 200)["data"]["url"]
    agrees(api.put(path, {}), 200)
    agrees(api.put(path, whole), 200)
    agrees(api.put(path, {**dict.fromkeys(set(body) - {"originalUrl"}), "isActive": False}), 200)
    agrees(api.get("/api/urls/stats"), 200)
    agrees(api.get("/api/urls/domains/available"), 200)
    agrees(api.delete(path), 200)
    agrees(api.get("/api/urls/stats"), 200)


VISIT = {
    "country": "DE", "address": "203.0.113.9", "device": "mobile", "userAgent": "", "language": "de", "referrer": "",
    "query": "qr=1", "time": "2030-03-01T09:30:00Z", "unlocked": True, "method": "HEAD",
}  # fmt: skip


@pytest.mark.parametrize("visit", [{}, VISIT, dict.fromkeys(VISIT)], ids=["least", "whole", "nulls"])
@pytest.mark.parametrize("fields", [{}, {"password": "secret"}, WHOLE], ids=["plain", "refused", "whole"])
def test_simulations_are_as_described(
    api: APIClient,
    agrees: Callable[..., Any],
    described: dict[str, Any],
    *,
    visit: dict[str, Any],
    fields: dict[str, Any],
) -> None:
    body = {"originalUrl": "https://example.com/", **fields}
    link = agrees(api.post("/api/urls", body), 201)["data"]["url"]
    validate(described, {"$ref": "#/components/schemas/SimulationRequest"}, visit)
    agrees(api.post(f"/api/urls/{link['_id']}/simulate", visit), 200)


@pytest.mark.parametrize("fields", [{}, QR_CODE], ids=["least", "whole"])
def test_qr_codes_are_as_described(
    api: APIClient,
    make_link: Callable[..., dict[str, Any]],
    agrees: Callable[..., Any],
    described: dict[str, Any],
    fields: dict[str, Any],
) -> None:
    body = {"urlId": make_link()["_id"], **fields}
    validate(described, {"$ref": "#/components/schemas/CreateQrCodeRequest"}, body)
    code = agrees(api.post("/api/qr-codes", body), 201)["data"]["qrCode"]
    path = f"/api/qr-codes/{code['_id']}"
    agrees(api.get("/api/qr-codes", {"urlId": body["urlId"], "limit": 1}), 200)
    agrees(api.get(path), 200)
    light_on_dark = {"foregroundColor": "#FFFFFF", "backgroundColor": "#000000"}
    inverted = agrees(api.post("/api/qr-codes", {**body, **light_on_dark}), 201)
    assert [warning["code"] for warning in inverted["warnings"]] == ["inverted"]
    equal = {"foregroundColor": "#1A2B3C", "backgroundColor": "#1A2B3D"}
    agrees(api.post("/api/qr-codes", {**body, **equal}), 400)
    agrees(api.post("/api/qr-codes", {**body, "urlId": UNKNOWN_ID}), 404)
    agrees(api.post("/api/qr-codes", {**body, "logo": "x" * 210_000}), 413)
    agrees(api.get("/api/qr-codes", {"urlId": UNKNOWN_ID}), 404)
    agrees(api.get("/api/qr-codes?page=0"), 400)
    agrees(api.delete(path), 200)
    agrees(api.delete(path), 404)


def test_limits_and_choices_of_qr_codes_are_visible(described: dict[str, Any]) -> None:
    new = described["components"]["schemas"]["CreateQrCodeRequest"]
    properties = new["properties"]
    assert new["required"] == ["urlId"]
    assert set(properties) == {"urlId", *QR_CODE}
    assert properties["size"].items() >= {"minimum": 100, "maximum": 2000}.items()
    assert properties["margin"].items() >= {"minimum": 0, "maximum": 10}.items()
    assert properties["foregroundColor"]["pattern"] == "^#[0-9A-Fa-f]{6}$"
    choices = {
        "format": ("QrCodeFormat", ["png", "svg", "jpeg"]),
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


REPORTS = ["", "/devices", "/geographic", "/clicks"]


@pytest.mark.parametrize("part", REPORTS)
def test_reports_are_as_described(
    api: APIClient,
    anonymous: APIClient,
    make_link: Callable[..., dict[str, Any]],
    agrees: Callable[..., Any],
    part: str,
) -> None:
    link = make_link()["_id"]
    path = f"/api/analytics/{link}{part}"
    agrees(api.get(path), 200)
    kinds = [Fact("2030-03-01T10:00Z", kind=kind, reason="country") for kind in Kind]
    record(link, [*kinds, Fact("2030-03-02T10:00Z", "unknown", "unknown", referrer="https://a.example/")])
    agrees(api.get(path), 200)
    days = {"startDate": "2030-03-01", "endDate": "2030-03-02", "timezone": "Europe/Berlin", "limit": 1}
    agrees(api.get(path, days), 200)
    agrees(api.get(path, {**days, "interval": "hour"}), 200)
    agrees(api.get(path, {**days, "limit": 0, "timezone": "x"}), 400)
    agrees(anonymous.get(path), 401)
    agrees(api.get(f"/api/analytics/{UNKNOWN_ID}{part}"), 404)


def test_the_source_of_cities_is_as_described(
    api: APIClient,
    make_link: Callable[..., dict[str, Any]],
    agrees: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = {"text": "By somebody", "url": "https://a.example"}
    monkeypatch.setattr(geo, "attribution", lambda: source)
    data = agrees(api.get(f"/api/analytics/{make_link()['_id']}/geographic"), 200)["data"]
    assert data["attribution"] == source


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
    assert query("/clicks")["kind"]["default"] == "click,head,prefetch,crawler,refused"
    assert all(query(part)["timezone"]["default"] == "UTC" for part in REPORTS)


def test_a_body_of_every_field_is_as_described(described: dict[str, Any]) -> None:
    validate(described, {"$ref": "#/components/schemas/CreateLinkRequest"}, {**WHOLE, "expiresAt": None})
    assert set(described["components"]["schemas"]["CreateLinkRequest"]["properties"]) == set(WHOLE)


def test_responses_with_credentials_are_as_described(
    alice: NewAccount, anonymous: APIClient, bearer: APIClient, agrees: Callable[..., Any]
) -> None:
    login = {"email": alice.user.email, "password": PASSWORD}
    tokens = agrees(anonymous.post("/api/auth/login", login), 200)
    agrees(anonymous.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]}), 200)
    agrees(bearer.post("/api/auth/regenerate-api-key"), 200)
    agrees(bearer.get("/api/auth/api-key"), 200)


def test_accounts_and_sessions_are_as_described(
    alice: NewAccount, bearer: APIClient, agrees: Callable[..., Any]
) -> None:
    sessions = agrees(bearer.get("/api/auth/sessions"), 200)["data"]["sessions"]
    log_in(alice.user)
    [other, _] = agrees(bearer.get("/api/auth/sessions"), 200)["data"]["sessions"]
    agrees(bearer.delete(f"/api/auth/sessions/{other['_id']}"), 200)
    agrees(bearer.delete(f"/api/auth/sessions/{other['_id']}"), 404)
    user = agrees(bearer.get("/api/auth/me"), 200)["data"]["user"]
    agrees(bearer.patch("/api/auth/me", user), 200)
    agrees(bearer.patch("/api/auth/me", {"email": "eve@example.com"}), 400)
    agrees(bearer.patch("/api/auth/me", {"firstName": "x" * 101}), 400)
    change = {"currentPassword": "wrong", "newPassword": "another good password"}
    agrees(bearer.post("/api/auth/change-password", change), 400)
    tokens = agrees(bearer.post("/api/auth/change-password", {**change, "currentPassword": PASSWORD}), 200)
    client = token_client(tokens["token"])
    agrees(client.post("/api/auth/logout"), 200)
    agrees(client.post("/api/auth/logout"), 401)
    assert len(sessions) == 1


# As with a taken code, below.
@pytest.mark.django_db(transaction=True)
def test_domains_are_as_described(
    api: APIClient,
    anonymous: APIClient,
    agrees: Callable[..., Any],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The server shares this process, so it gets time on a busy machine, too.
    monkeypatch.setattr(resolver, "DEADLINE_SECONDS", 60.0)
    monkeypatch.setattr(resolver, "TRY_SECONDS", 30.0)
    agrees(api.get("/api/domains"), 200)
    domain = agrees(api.post("/api/domains", {"domain": "brand.example", "subdomain": "go"}), 201)["data"][
        "domain"
    ]
    path = f"/api/domains/{domain['_id']}"
    agrees(api.get("/api/domains"), 200)
    agrees(api.get(path), 200)
    agrees(api.post("/api/domains", {"domain": "go.brand.example"}), 409)
    agrees(api.post("/api/domains", {"domain": "com"}), 400)
    with dns_server() as server:
        settings.DNS_RESOLVERS = [server.address]
        assert len(agrees(api.post(f"{path}/verify"), 400)["data"]["checks"]) == 2
        publish(server, domain)
        agrees(api.post(f"{path}/verify"), 200)
        for _ in range(8):
            api.post(f"{path}/verify")
        agrees(api.post(f"{path}/verify"), 429)
    User.objects.update(plan="free")
    agrees(api.post("/api/domains", {"domain": "brand.example"}), 403)
    agrees(api.post(f"{path}/verify"), 403)
    agrees(api.delete(path), 200)
    for method, target in [("get", path), ("delete", path), ("post", f"{path}/verify")]:
        agrees(getattr(api, method)(target), 404)
        agrees(getattr(anonymous, method)(target), 401)


# A taken code makes a statement fail, after which the request continues.
@pytest.mark.django_db(transaction=True)
def test_refusals_are_as_described(
    api: APIClient,
    anonymous: APIClient,
    make_link: Callable[..., dict[str, Any]],
    agrees: Callable[..., Any],
) -> None:
    path = f"/api/urls/{make_link(customCode='taken')['_id']}"
    url = {"originalUrl": "https://example.com/"}

    assert len(agrees(api.post("/api/urls", {"title": 5}), 400)["errors"]) == 2
    agrees(api.post("/api/urls", b"{", content_type="application/json"), 400)
    agrees(api.get("/api/urls?limit=101&sortBy=colour"), 400)
    agrees(api.get("/api/urls?limt=5"), 400)
    agrees(api.get("/api/urls?colour=5"), 200)
    agrees(api.get("/api/urls?colour=5", headers={"prefer": "handling=strict"}), 400)
    agrees(api.post("/api/urls", {**url, "colour": "red"}), 201)
    agrees(api.post("/api/urls", {**url, "max_clicks": 5}), 400)
    agrees(api.put(path, {"shortCode": "changed"}), 400)
    agrees(anonymous.post("/api/auth/login", {}), 400)
    agrees(anonymous.post("/api/auth/login", {"email": "nobody@example.com", "password": "wrong"}), 401)
    agrees(anonymous.post("/api/auth/refresh", {"refreshToken": "worn out"}), 401)
    for method, target in [
        ("get", "/api/urls"),
        ("post", "/api/urls"),
        ("get", path),
        ("put", path),
        ("delete", path),
        ("get", "/api/urls/stats"),
        ("get", "/api/urls/domains/available"),
        ("get", "/api/auth/api-key"),
        ("post", "/api/auth/regenerate-api-key"),
    ]:
        agrees(getattr(anonymous, method)(target), 401)
    # A key is not a token.
    agrees(api.get("/api/auth/api-key"), 401)
    for method in ("get", "put", "delete"):
        agrees(getattr(api, method)(f"/api/urls/{UNKNOWN_ID}"), 404)
    agrees(api.post("/api/urls", {**url, "domainId": UNKNOWN_ID}), 404)
    agrees(api.post("/api/urls", {**url, "customCode": "taken"}), 409)
    agrees(api.post("/api/urls", {**url, "customCode": "admin"}), 409)
    agrees(api.post("/api/urls", url, headers={"transfer-encoding": "chunked"}), 411)
    agrees(api.post("/api/urls", {**url, "title": "x" * 70_000}), 413)
    agrees(api.post("/api/urls", b"x", content_type="text/plain"), 415)


def test_the_response_during_an_outage_is_as_described(
    api: APIClient, agrees: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any) -> None:
        raise OperationalError

    monkeypatch.setattr(selectors, "overview", fail)
    agrees(api.get("/api/urls/stats"), 503)


@pytest.mark.parametrize("path", sorted(DOCUMENTS))
def test_the_documents_need_no_credentials_and_no_database(anonymous: APIClient, path: str) -> None:
    response = anonymous.get(path)
    assert response.status_code == 200
    assert not response.cookies
    assert "Cookie" not in response.get("Vary", "")
    anonymous.credentials(HTTP_X_API_KEY="not a key")
    assert anonymous.get(path).content == response.content
    assert anonymous.get(path, headers={"if-none-match": response["ETag"]}).status_code == 304
    refused = anonymous.post(path)
    assert (refused.status_code, refused.json()["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize("path", sorted(DOCUMENTS))
def test_the_documents_are_not_on_other_hosts(anonymous: APIClient, path: str, db: None) -> None:
    assert anonymous.get(path, headers={"host": "links.example.com"}).status_code == 404


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/html", "application/yaml"])
def test_the_description_is_json_for_any_accept_header(anonymous: APIClient, accept: str) -> None:
    response = anonymous.get("/api/schema", headers={"accept": accept})
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    assert response.json()["openapi"] == "3.1.0"


class Page(HTMLParser):
    """What a page loads and links to, and the content of its scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[tuple[str, str]] = []
        self.tag = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tag = tag
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        assert not [name for name, _ in attrs if name.startswith("on") or name == "style"]

    def handle_data(self, data: str) -> None:
        if self.tag in ("script", "style") and data.strip():
            self.inline.append((self.tag, data))

    def handle_endtag(self, tag: str) -> None:
        self.tag = ""


def test_the_page_loads_only_files_of_this_service(anonymous: APIClient) -> None:
    response = anonymous.get("/api/docs")
    assert response["Content-Type"] == "text/html; charset=utf-8"
    page = Page(response.content.decode())
    assert len(page.addresses) == 4
    for address in page.addresses:
        target = urlsplit(urljoin("http://sho.rt/api/docs", address))
        assert target.netloc == "sho.rt"
        loaded = anonymous.get(target.path)
        assert loaded.status_code == 200, address
        body = b"".join(loaded) if loaded.streaming else loaded.content
        assert len(body) == int(loaded["Content-Length"]) > 500


def test_the_policy_of_the_page_allows_only_what_it_needs(anonymous: APIClient) -> None:
    response = anonymous.get("/api/docs")
    policy = dict(
        directive.strip().split(" ", 1) for directive in response["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in str(policy)
    assert "http" not in str(policy)
    page = Page(response.content.decode())
    assert [tag for tag, _ in page.inline] == ["style", "script"]
    for tag, text in page.inline:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[f"{tag}-src"].split()


def test_every_response_describes_the_limit_headers(described: dict[str, Any]) -> None:
    for path, method, operation in operations(described):
        assert "429" in operation["responses"], (path, method)
        for status, response in operation["responses"].items():
            if status == "414":
                continue  # Not the API's.
            names = set(response["headers"])
            assert names >= {"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"}
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
    assert named == (created | created_many) - shown_once
    for path in named:
        responses = described["paths"][path]["post"]["responses"]
        assert "Idempotent-Replayed" in responses["200" if path in created_many else "201"]["headers"]
        assert "idempotency_in_progress" in codes_of(responses["409"])
        assert codes_of(responses["422"]) == {"idempotency_mismatch"}


def codes_of(response: dict[str, Any]) -> set[str]:
    return {
        example["value"]["code"] for example in response["content"]["application/json"]["examples"].values()
    }


def test_concurrent_first_requests_all_succeed(anonymous: APIClient) -> None:
    render_schema.cache_clear()
    together = Barrier(8)

    def fetch_description(_: int) -> int:
        together.wait(DEADLINE)
        return anonymous.get("/api/schema").status_code

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(fetch_description, range(8))) == [200] * 8
