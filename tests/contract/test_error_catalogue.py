"""The catalogue of error codes has those that the service gives, and each has a page."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from html.parser import HTMLParser
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver
from rest_framework.test import APIClient

from common.error_catalogue import CATALOGUE, DOCS_PATH
from common.errors import ServiceError
from common.rest.envelope import DRF_CODES, KeyExpired
from shortener_project.web.documents import PAGES
from shortener_project.web.error_pages import example_of
from testing.cases import for_each
from testing.contract.description import described as described
from testing.contract.description import validate
from testing.error_bodies import whole_error

PROJECT = Path(__file__).resolve().parents[2]
APPS = [
    path.parent
    for path in PROJECT.glob("*/__init__.py")
    if path.parent.name not in ("tests", "testing", "bench")
]
NAVIGATION = [path for _, path, _ in PAGES]
# Their `code` belongs to a field, or to something else than an error.
OF_FIELDS = {"ValidationError", "ErrorDetail", "FieldError"}
# The server answers this one before Django sees the request.
HEADER_TOO_LONG = ("bad_request", 431)


def subclasses(of: type[ServiceError]) -> Iterator[type[ServiceError]]:
    yield of
    for subclass in of.__subclasses__():
        yield from subclasses(subclass)


def codes_in_calls() -> set[str]:
    """The literal codes of errors that are created with a code other than that of their class."""
    found = set()
    for module in (path for app in APPS for path in app.rglob("*.py")):
        for call in (node for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.Call)):
            name = getattr(call.func, "id", None) or getattr(call.func, "attr", "")
            codes = [word.value for word in call.keywords if word.arg == "code" and name not in OF_FIELDS]
            found |= {
                code.value for code in codes if isinstance(code, ast.Constant) and isinstance(code.value, str)
            }
    return found


def given(described: dict[str, Any]) -> set[tuple[str, int]]:
    """Codes with their statuses."""
    _ = get_resolver().url_patterns
    classes = [error for error in subclasses(ServiceError) if not error.__module__.startswith("tests.")]
    examples = {
        (example["value"]["code"], int(status))
        for methods in described["paths"].values()
        for operation in methods.values()
        for status, response in operation["responses"].items()
        for content in response.get("content", {}).values()
        for example in content["examples"].values()
        if status >= "400"
    }
    of_drf = {(code, status) for status, code in DRF_CODES.items()} | {
        (KeyExpired.code, KeyExpired.status_code)
    }
    return {(error.code, error.status) for error in classes} | examples | of_drf | {HEADER_TOO_LONG}


def test_the_catalogue_has_every_code_and_status_and_no_other(described: dict[str, Any]) -> None:
    listed = {(code, status) for code, entry in CATALOGUE.items() for status in entry.statuses}
    assert listed == given(described)
    assert codes_in_calls() <= CATALOGUE.keys()


def test_every_response_lists_the_codes_of_its_examples(described: dict[str, Any]) -> None:
    responses = described["paths"]["/api/urls"]["post"]["responses"]
    codes = {
        status: response["content"]["application/json"]["schema"]["properties"]["code"]["enum"]
        for status, response in responses.items()
        if status >= "400"
    }
    assert codes["401"] == ["key_expired", "not_authenticated", "token_refused"]
    assert codes["409"] == [
        *("code_reserved", "code_taken", "domain_not_active", "external_id_taken", "idempotency_in_progress"),
    ]
    assert {code for listed in codes.values() for code in listed} <= CATALOGUE.keys()


class Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def page(anonymous: APIClient, path: str) -> Page:
    response = anonymous.get(path, headers={"accept-language": "de"})
    assert (response.status_code, response["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert response["Cache-Control"] == "no-cache"
    policy = response["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert policy.endswith("form-action 'none'; frame-ancestors 'none'; base-uri 'none'")
    assert not response.cookies
    html = response.content.decode()
    assert '<html lang="en">' in html
    assert "script" not in html
    return Page(html)


def test_the_index_leads_to_a_page_about_every_code(anonymous: APIClient) -> None:
    index = page(anonymous, DOCS_PATH)
    assert index.links == [*NAVIGATION, *(f"{DOCS_PATH}/{code}" for code in CATALOGUE)]
    for code, entry in CATALOGUE.items():
        shown = page(anonymous, f"{DOCS_PATH}/{code}")
        assert {entry.title, code} <= set(shown.texts)
        text = "".join(shown.texts)
        assert entry.cause.replace("`", "") in text
        assert entry.remedy.replace("`", "") in text


def test_a_page_names_the_operations_with_the_code(anonymous: APIClient) -> None:
    shown = page(anonymous, f"{DOCS_PATH}/not_readable")
    assert shown.links == [
        *NAVIGATION,
        "/api/docs/operations/downloadQrCode",
        "/api/docs/operations/downloadQrSheet",
    ]
    assert "2 operations" in shown.texts


def test_the_page_about_invalid_fields_lists_their_codes(anonymous: APIClient) -> None:
    shown = page(anonymous, f"{DOCS_PATH}/validation_error")
    assert {"unsupported_scheme", "immutable", "required"} <= set(shown.texts)


@for_each("code", CATALOGUE)
def test_the_example_of_a_page_is_an_error_as_described(
    code: str, anonymous: APIClient, described: dict[str, Any]
) -> None:
    example = example_of(code, CATALOGUE[code])
    validate(described, {"$ref": "#/components/schemas/Error"}, example)
    assert example["code"] == code


@pytest.mark.parametrize("path", ["/api/docs/errors/nothing", "/api/docs/errors/", "/api/docs/errors/a/b"])
def test_other_codes_have_no_page(anonymous: APIClient, path: str) -> None:
    response = anonymous.get(path)
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("path", [DOCS_PATH, f"{DOCS_PATH}/not_found"])
def test_the_pages_are_only_read_and_only_on_the_own_host(anonymous: APIClient, path: str, db: None) -> None:
    assert anonymous.post(path).json()["code"] == "method_not_allowed"
    foreign = anonymous.get(path, headers={"host": "links.example.com", "accept": "application/problem+json"})
    # It does not name the host of the service.
    problem = whole_error(foreign)
    assert (foreign.status_code, problem["type"], problem["code"]) == (404, "about:blank", "not_found")
    assert b"sho.rt" not in foreign.content


# The bodies of errors


@pytest.mark.parametrize("path", ["/api/urls", "/api/nothing", "/api"])
def test_an_error_has_its_page_and_the_id_of_its_request(path: str, anonymous: APIClient, db: None) -> None:
    response = anonymous.get(path)
    body = whole_error(response)
    code = {401: "not_authenticated", 404: "not_found"}[response.status_code]
    assert (body["code"], body["docs"]) == (code, f"http://sho.rt/api/docs/errors/{code}")
    assert body["requestId"] == response["X-Request-ID"]


@pytest.mark.parametrize(
    "accept",
    [
        "application/problem+json",
        "application/json, application/problem+json;q=0.9",
        "text/html,Application/Problem+JSON ; q=1.0",
    ],
)
def test_a_client_can_ask_for_problem_details(accept: str, anonymous: APIClient, api: APIClient) -> None:
    response = anonymous.get("/api/nothing", headers={"accept": accept})
    identifier = response["X-Request-ID"]
    assert (response.status_code, response["Content-Type"]) == (404, "application/problem+json")
    assert response.json() == {
        "type": "http://sho.rt/api/docs/errors/not_found",
        "title": "Not found",
        "status": 404,
        "detail": "Not found.",
        "instance": f"urn:uuid:{identifier}",
        "success": False,
        "code": "not_found",
        "requestId": identifier,
    }
    refused = api.post("/api/urls", {"title": 5}, headers={"accept": accept})
    assert (refused.status_code, refused["Content-Type"]) == (400, "application/problem+json")
    assert [error["field"] for error in refused.json()["errors"]] == ["originalUrl", "title"]
    assert refused.json()["type"] == "http://sho.rt/api/docs/errors/validation_error"


@pytest.mark.parametrize(
    "accept",
    ["application/json", "*/*", "application/problem+json;q=0", "application/problem+jsonp", "x" * 5000],
)
def test_other_clients_get_the_envelope(accept: str, anonymous: APIClient) -> None:
    for path in ("/api/nothing", "/api/urls"):
        response = anonymous.get(path, headers={"accept": accept})
        assert response["Content-Type"] == "application/json"
        assert response.json()["success"] is False


def test_success_is_never_a_problem(api: APIClient) -> None:
    response = api.get("/api/urls", headers={"accept": "application/problem+json"})
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")


def test_a_defect_of_the_service_can_be_a_problem(monkeypatch: pytest.MonkeyPatch, api: APIClient) -> None:
    monkeypatch.setattr("links.selectors.overview", lambda *_: 1 / 0)
    api.raise_request_exception = False
    response = api.get("/api/urls/stats", headers={"accept": "application/problem+json"})
    assert (response.status_code, response["Content-Type"]) == (500, "application/problem+json")
    assert response.json()["title"] == "Internal error"


def test_the_id_of_a_proxy_is_no_urn(client: Client, settings: Any) -> None:
    settings.TRUSTED_PROXIES = [ip_network("127.0.0.0/8")]
    headers = {"host": "sho.rt", "accept": "application/problem+json", "x-request-id": "proxy-1234567"}
    body = client.get("/api/nothing", headers=headers).json()
    assert (body["requestId"], "instance" in body) == ("proxy-1234567", False)
