"""The envelope of successes and of each kind of error."""

from threading import get_ident
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

from common import errors
from common.rest.envelope import JSONRenderer, error_body, ok
from testing.cases import for_each
from tests.common.rest import raising
from tests.common.rest.raising import BUGS, EXPECTED, SECRET

pytestmark = pytest.mark.urls(raising.__name__)


@pytest.fixture
def client(anonymous: APIClient) -> APIClient:
    anonymous.raise_request_exception = False
    return anonymous


def shown(response: HttpResponse) -> tuple[int, str, Any]:
    return response.status_code, response.headers["Content-Type"], response.json()


@for_each("name", EXPECTED)
def test_exception_becomes_its_status_and_code_and_nothing_more(
    name: str, db: None, client: APIClient
) -> None:
    _, status, code, message, headers = EXPECTED[name]
    wait = {"retryAfter": int(headers["Retry-After"])} if status == 429 else {}
    response = client.get(f"/api/raise/{name}")
    assert shown(response) == (
        status,
        "application/json",
        {"success": False, "message": message, "code": code, **wait},
    )
    shown_headers = {
        name: value
        for name, value in response.headers.items()
        if name in ("Retry-After", "WWW-Authenticate") or name.startswith("RateLimit")
    }
    assert shown_headers == headers
    assert SECRET not in response.content.decode()


@pytest.mark.parametrize("name", BUGS)
def test_an_unexpected_error_is_500_without_its_text(
    name: str, client: APIClient, caplog: pytest.LogCaptureFixture, db: None
) -> None:
    response = client.get(f"/api/raise/{name}")
    assert shown(response) == (
        500,
        "application/json",
        {
            "success": False,
            "message": "Something went wrong on our side. The error has been recorded.",
            "code": "internal_error",
        },
    )
    assert len(response.content) <= 260
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    # Another thread may report the repeated lines of an earlier request.
    own = [record for record in caplog.records if record.thread == get_ident()]
    assert [record.levelname for record in own] == ["ERROR", "INFO"]


@pytest.mark.parametrize("accept", ["text/html", "application/json", "*/*", "image/png", "rubbish"])
def test_envelope_is_json_for_any_accept_header(accept: str, client: APIClient) -> None:
    for path_, status in (("ValueError", 500), ("conflict", 409), ("suspicious operation", 400)):
        response = client.get(f"/api/raise/{path_}", headers={"accept": accept})
        assert (response.status_code, response.headers["Content-Type"]) == (status, "application/json")
        assert set(response.json()) == {"success", "message", "code"}


def test_the_response_to_a_disallowed_method_lists_the_allowed_ones(client: APIClient) -> None:
    response = client.delete("/api/validate")
    assert shown(response) == (
        405,
        "application/json",
        {"success": False, "message": 'Method "DELETE" not allowed.', "code": "method_not_allowed"},
    )
    assert "POST" in response.headers["Allow"].split(", ")
    assert "DELETE" not in response.headers["Allow"].split(", ")


@pytest.mark.parametrize("address", ["/api", "/api/", "/api/nothing", "/api/raise", "/api/validate/"])
def test_an_unknown_path_under_api_gets_the_envelope(address: str, client: APIClient) -> None:
    response = client.get(address)
    assert shown(response) == (
        404,
        "application/json",
        {"success": False, "message": "Not found.", "code": "not_found"},
    )
    assert response.headers["Cache-Control"] == "no-store"


def test_an_unexpected_error_elsewhere_is_a_page_or_json_without_its_text(client: APIClient) -> None:
    page = client.get("/apiary", headers={"accept": "text/html"})
    assert (page.status_code, page.headers["Content-Type"]) == (500, "text/html; charset=utf-8")
    assert SECRET not in page.content.decode()
    assert shown(client.get("/apiary", headers={"accept": "application/json"})) == (
        500,
        "application/json",
        {
            "success": False,
            "message": "The error has been recorded. Try again in a moment.",
            "reason": "internal_error",
        },
    )


def test_all_invalid_fields_are_named_at_once_by_their_path(client: APIClient) -> None:
    response = client.post(
        "/api/validate",
        {"name": "long name", "tags": ["ok", "too long"], "inner": {"number": "5"}},
    )
    too_long = "Ensure this field has no more than 3 characters."
    assert shown(response) == (
        400,
        "application/json",
        {
            "success": False,
            "message": f"name: {too_long}",
            "code": "validation_error",
            "errors": [
                {"field": "name", "code": "max_length", "message": too_long},
                {"field": "tags.1", "code": "max_length", "message": too_long},
                {"field": "inner.number", "code": "invalid", "message": "A valid integer is required."},
                {"field": "inner.text", "code": "required", "message": "This field is required."},
            ],
        },
    )


@pytest.mark.parametrize(
    ("body", "field", "code", "message"),
    [
        ({"name": "a", "tags": "x", "inner": {"number": 1, "text": "a"}},
         "tags", "not_a_list", 'Expected a list of items but got type "str".'),
        ({"name": "a", "tags": ["x"] * 3, "inner": {"number": 1, "text": "a"}},
         "tags", "max_length", "Ensure this field has no more than 2 elements."),
        ({"name": "a", "tags": [], "inner": []},
         "inner", "invalid", "Invalid data. Expected a dictionary, but got list."),
        ({"name": "no", "tags": [], "inner": {"number": 1, "text": "a"}},
         "body", "clash", "These do not go together."),
    ],
)  # fmt: skip
def test_an_error_of_a_whole_list_or_object_is_named_after_it(
    body: object, field: str, code: str, message: str, client: APIClient
) -> None:
    assert shown(client.post("/api/validate", body)) == (
        400,
        "application/json",
        {
            "success": False,
            "message": f"{field}: {message}",
            "code": "validation_error",
            "errors": [{"field": field, "code": code, "message": message}],
        },
    )


def test_errors_raised_by_services_look_the_same(client: APIClient) -> None:
    assert shown(client.post("/api/fields")) == (
        400,
        "application/json",
        {
            "success": False,
            "message": "a: Is taken.",
            "code": "validation_error",
            "errors": [
                {"field": "a", "code": "taken", "message": "Is taken."},
                {"field": "b.c", "code": "long", "message": "Is long."},
            ],
        },
    )


def test_an_error_without_a_field_belongs_to_the_body(client: APIClient) -> None:
    assert client.post("/api/text").json() == {
        "success": False,
        "message": "body: Nothing fits.",
        "code": "validation_error",
        "errors": [{"field": "body", "code": "odd", "message": "Nothing fits."}],
    }


def test_success_contains_only_the_given_data() -> None:
    assert ok().data == {"success": True}
    assert ok(message="Done.").data == {"success": True, "message": "Done."}
    assert ok({}).data == {"success": True, "data": {}}
    assert ok({"a": 1}, "Done.", status=201, token="t").data == {
        "success": True,
        "token": "t",
        "message": "Done.",
        "data": {"a": 1},
    }
    assert [ok().status_code, ok(status=201).status_code] == [200, 201]


def test_error_without_fields_has_no_list_of_them() -> None:
    assert error_body(errors.Conflict("Taken.", code="duplicate_code")) == {
        "success": False,
        "message": "Taken.",
        "code": "duplicate_code",
    }


def test_json_is_compact_utf8() -> None:
    assert JSONRenderer().render({"é": "😀", "n": None}) == '{"é":"😀","n":null}'.encode()
    assert JSONRenderer().render(None) == b""


def test_every_kind_of_client_gets_the_same_response(client: APIClient) -> None:
    """Django's test client sends no Accept header, and neither do many scripts."""
    plain = Client(headers={"host": "sho.rt"}, raise_request_exception=False)
    assert plain.get("/api/raise/conflict").json() == client.get("/api/raise/conflict").json()
