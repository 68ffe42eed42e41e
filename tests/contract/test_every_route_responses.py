"""The responses of every route: their format, and unknown fields and parameters."""

import pytest
from rest_framework.test import APIClient

from testing.accounts.fixtures import alice as alice
from testing.contract.every_route import (
    ALL_METHODS,
    DOCUMENTATION,
    NOT_GIVEN,
    PRIVATE,
    ROUTES,
    Route,
    assert_error,
    assert_unauthorized,
    for_every_call,
    send,
)

TOP_LEVEL_KEYS = {
    *("success", "message", "data", "warnings"),
    *("token", "refreshToken", "apiKey"),
    *("totalLinks", "totalClicks", "customDomains", "accountAge", "plan"),
}
ACCEPTS = [
    "text/html",
    "text/html,*/*;q=0.8",
    "image/png",
    "application/xml",
    "application/json;v=9",
    "",
    "rubbish",
]
# Routes that return a file on success.
FILES = {"/api/urls/export"}
# Each has a required parameter.
LOOK_UPS = {"/api/urls/exists", "/api/urls/resolve"}
READABLE = [
    route for route in ROUTES if route.path not in DOCUMENTATION | FILES | LOOK_UPS and "{" not in route.path
]
# Refuse unknown parameters, and shares unknown fields, whatever the client prefers.
CLOSED = {
    *("/api/analytics", "/api/analytics/clicks", "/api/analytics/sparklines", "/api/analytics/{urlId}"),
    *(f"/api/analytics/{{urlId}}/{part}" for part in ("devices", "geographic", "clicks")),
    *("/api/domains/{id}/analytics", "/api/domains/{id}/unknown-codes", "/api/tags"),
}
CLOSED_BODIES = {"/api/analytics/shares", "/api/analytics/shares/{id}"}


@for_every_call(READABLE, "GET")
@pytest.mark.slow
def test_success_is_json_for_any_accept_header(method: str, route: Route, bearer: APIClient) -> None:
    for accept in ACCEPTS:
        response = send(bearer, method, route.path, accept=accept)
        assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
        assert response.json()["success"] is True


@for_every_call(PRIVATE)
@pytest.mark.slow
def test_errors_are_json_for_any_accept_header(method: str, route: Route, anonymous: APIClient) -> None:
    for accept in ACCEPTS:
        assert_unauthorized(send(anonymous, method, route.with_id(), accept=accept), NOT_GIVEN)
        without_route = send(anonymous, method, route.with_id() + "/", accept=accept)
        assert_error(without_route, 404, "not_found", "Not found.")


@for_every_call(READABLE, "GET")
def test_success_has_the_envelope_and_is_not_cached(method: str, route: Route, bearer: APIClient) -> None:
    unknown = "" if route.path in CLOSED else "?unknown=1&output=html&_method=DELETE"
    for path in {route.path, route.path + unknown}:
        response = send(bearer, method, path)
        assert response.status_code == 200
        assert set(response.json()) <= TOP_LEVEL_KEYS
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert "Set-Cookie" not in response.headers


@for_every_call([route for route in ROUTES if route.path not in DOCUMENTATION])
@pytest.mark.slow
def test_unknown_parameter_is_refused_if_the_client_prefers_that(
    method: str, route: Route, bearer: APIClient
) -> None:
    path = f"{route.with_id()}?colour=red"
    strict = send(bearer, method, path, b"" if method == "GET" else b"{}", prefer="handling=strict")
    if (method, route.path) == ("DELETE", "/api/analytics/{urlId}"):
        # It has a required parameter, without which an unknown link is not found.
        assert strict.status_code == 404
        return
    [error] = strict.json()["errors"][:1]
    is_closed = route.path in CLOSED
    assert error["message"].partition(" Must be one of ")[0] == "Unknown parameter."
    assert error == {"field": "colour", "code": "unknown_field", "message": error["message"]}
    assert (strict.status_code, strict.headers["Preference-Applied"]) == (400, "handling=strict")
    by_default = send(bearer, method, path, b"" if method == "GET" else b"{}")
    if is_closed:
        assert (by_default.status_code, by_default.json()["errors"][0]) == (400, error)
        return
    assert "Preference-Applied" not in by_default.headers
    assert by_default.status_code != 400 or "colour" not in by_default.content.decode()


@for_every_call(ROUTES, "POST", "PUT", "PATCH", "DELETE")
@pytest.mark.slow
def test_unknown_field_is_refused_if_the_client_prefers_that(
    method: str, route: Route, bearer: APIClient
) -> None:
    body = b'{"flavour":"red"}'
    strict = send(bearer, method, route.with_id(), body, prefer="handling=strict")
    [error] = strict.json()["errors"][:1]
    assert error["message"].startswith("Unknown field.")
    assert error == {"field": "flavour", "code": "unknown_field", "message": error["message"]}
    assert (strict.status_code, strict.headers["Preference-Applied"]) == (400, "handling=strict")
    by_default = send(bearer, method, route.with_id(), body)
    if route.path in CLOSED_BODIES and method in {"POST", "PATCH"}:
        assert (by_default.status_code, by_default.json()["errors"][0]) == (400, error)
        return
    assert by_default.status_code != 400 or "flavour" not in by_default.content.decode()


@for_every_call([route for route in READABLE if route.path not in CLOSED], "GET")
def test_unknown_parameter_causes_a_warning(method: str, route: Route, bearer: APIClient) -> None:
    body = send(bearer, method, f"{route.path}?colour=red&hue=1").json()
    assert body["success"] is True
    assert body["warnings"] == [
        {"field": name, "code": "unknown_field", "message": "Unknown parameter; it was ignored."}
        for name in ("colour", "hue")
    ]


@for_every_call(READABLE, "POST", "PUT", "PATCH")
def test_empty_object_is_400_with_fields_or_succeeds(method: str, route: Route, bearer: APIClient) -> None:
    response = send(bearer, method, route.path, b"{}")
    if response.status_code == 400:
        assert_error(response, 400, "validation_error", fields=True)
    else:
        assert (response.status_code, response.json()["success"]) == (200, True)


@pytest.mark.parametrize(
    "path",
    ["/api", "/api//", "/api/nothing", "/api/urls/stats/x", "/api/auth", "/api/AUTH/login", "/api/%00", "/api/\u0130"],
)  # fmt: skip
def test_unknown_paths_are_404(path: str, db: None, anonymous: APIClient) -> None:
    for method in ALL_METHODS:
        assert_error(send(anonymous, method, path), 404, "not_found", "Not found.")
