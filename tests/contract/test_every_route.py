"""Rules for every route under /api. The routes are read from the service."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount, rotate_api_key
from testing.accounts import bearer_client

UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"
ALL_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"]

# Every other route requires a credential and accepts a key as well as a token.
FOR_ANYBODY = {"/api/auth/login", "/api/auth/refresh", "/api/schema", "/api/docs"}
WITH_A_TOKEN_ONLY = {
    *("/api/auth/api-key", "/api/auth/regenerate-api-key", "/api/auth/me", "/api/auth/change-password"),
    *("/api/auth/logout", "/api/auth/sessions", "/api/auth/sessions/{id}"),
    *("/api/invitations/{token}/accept", "/api/keys", "/api/keys/{id}", "/api/keys/{id}/rotate"),
}
# They return a page and a description; their errors use the envelope too.
DOCUMENTATION = {"/api/schema", "/api/docs"}

DOCUMENTED = {
    ("POST", "/api/auth/login"),
    ("POST", "/api/auth/refresh"),
    ("GET", "/api/auth/api-key"),
    ("POST", "/api/auth/regenerate-api-key"),
    ("GET", "/api/auth/me"),
    ("PATCH", "/api/auth/me"),
    ("POST", "/api/auth/change-password"),
    ("POST", "/api/auth/logout"),
    ("GET", "/api/auth/sessions"),
    ("DELETE", "/api/auth/sessions/{id}"),
    ("GET", "/api/workspaces"),
    ("POST", "/api/workspaces"),
    ("GET", "/api/workspaces/{id}"),
    ("PATCH", "/api/workspaces/{id}"),
    ("DELETE", "/api/workspaces/{id}"),
    ("GET", "/api/workspaces/{id}/members"),
    ("PATCH", "/api/workspaces/{id}/members/{id}"),
    ("DELETE", "/api/workspaces/{id}/members/{id}"),
    ("GET", "/api/workspaces/{id}/invitations"),
    ("POST", "/api/workspaces/{id}/invitations"),
    ("DELETE", "/api/workspaces/{id}/invitations/{id}"),
    ("POST", "/api/invitations/{id}/accept"),
    ("GET", "/api/keys"),
    ("POST", "/api/keys"),
    ("PATCH", "/api/keys/{id}"),
    ("DELETE", "/api/keys/{id}"),
    ("POST", "/api/keys/{id}/rotate"),
    ("GET", "/api/urls"),
    ("POST", "/api/urls"),
    ("GET", "/api/urls/{id}"),
    ("PUT", "/api/urls/{id}"),
    ("DELETE", "/api/urls/{id}"),
    ("POST", "/api/urls/{id}/simulate"),
    ("GET", "/api/urls/{id}/history"),
    ("POST", "/api/urls/{id}/history/{id}/restore"),
    ("POST", "/api/urls/{id}/undelete"),
    ("GET", "/api/audit"),
    ("POST", "/api/urls/bulk"),
    ("POST", "/api/urls/bulk-update"),
    ("POST", "/api/urls/bulk-delete"),
    ("POST", "/api/urls/move"),
    ("POST", "/api/urls/import"),
    ("GET", "/api/urls/export"),
    ("POST", "/api/urls/bulk-export"),
    ("GET", "/api/urls/stats"),
    ("GET", "/api/urls/domains/available"),
    ("GET", "/api/domains"),
    ("POST", "/api/domains"),
    ("GET", "/api/domains/{id}"),
    ("PATCH", "/api/domains/{id}"),
    ("DELETE", "/api/domains/{id}"),
    ("POST", "/api/domains/{id}/verify"),
    ("GET", "/api/domains/{id}/analytics"),
    ("GET", "/api/analytics/{id}"),
    ("GET", "/api/analytics/{id}/devices"),
    ("GET", "/api/analytics/{id}/geographic"),
    ("GET", "/api/analytics/{id}/clicks"),
    ("GET", "/api/qr-codes"),
    ("POST", "/api/qr-codes"),
    ("GET", "/api/qr-codes/{id}"),
    ("DELETE", "/api/qr-codes/{id}"),
    ("GET", "/api/schema"),
    ("GET", "/api/docs"),
}
# Their bodies may contain a logo or a thousand links.
LARGE_BODIES = {
    "/api/qr-codes": 202_072,
    "/api/urls/bulk-delete": 65_536,
    "/api/urls/bulk-export": 65_536,
    "/api/urls/bulk": 4 * 1024 * 1024,
    "/api/urls/import": 8 * 1024 * 1024,
}
OURS = (
    *("/api/auth", "/api/urls", "/api/domains", "/api/analytics", "/api/qr-codes"),
    *("/api/audit", "/api/workspaces", "/api/invitations", "/api/keys"),
    *DOCUMENTATION,
)
TOP_LEVEL_KEYS = {
    *("success", "message", "data", "warnings"),
    *("token", "refreshToken", "apiKey"),
    *("totalLinks", "totalClicks", "customDomains", "accountAge", "plan"),
}


class Route(NamedTuple):
    path: str
    methods: frozenset[str]

    def with_id(self, identifier: str = UNKNOWN_ID) -> str:
        return re.sub(r"\{\w+\}", lambda _: identifier, self.path)


def patterns(resolver: URLResolver, before: str = "/") -> Iterator[tuple[str, URLPattern]]:
    for pattern in resolver.url_patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from patterns(pattern, path)
        else:
            yield path, pattern


def routes() -> list[Route]:
    routes = []
    for path, pattern in patterns(get_resolver()):
        if path.startswith("/api/"):
            actions = getattr(pattern.callback, "actions", None)
            view = getattr(pattern.callback, "cls", None)
            methods = actions or [name for name in view.http_method_names if hasattr(view, name)]
            routes.append(
                Route(
                    re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", path),
                    frozenset(name.upper() for name in methods) - {"HEAD", "OPTIONS"},
                )
            )
    return sorted(routes)


@pytest.fixture
def alice(db: None) -> NewAccount:
    """Has no usable password: no test here logs in, and hashing one takes time."""
    user = User.objects.create(email="alice@example.com", password="!")
    return NewAccount(user, "", rotate_api_key(user=user))


ROUTES = routes()
PRIVATE = [route for route in ROUTES if route.path not in FOR_ANYBODY]
WITH_ID = [route for route in ROUTES if "{" in route.path]


def for_every_route(chosen: list[Route]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("route", chosen, ids=[route.path for route in chosen])


def for_every_call(chosen: list[Route], *methods: str) -> pytest.MarkDecorator:
    """One test for each method of each route, or only for ``methods`` if given."""
    pairs = [
        (method, route) for route in chosen for method in sorted(route.methods) if method in (methods or ALL_METHODS)
    ]  # fmt: skip
    return pytest.mark.parametrize(
        ("method", "route"), pairs, ids=[f"{method} {route.path}" for method, route in pairs]
    )


def send(client: APIClient, method: str, path: str, body: bytes = b"", **headers: str) -> HttpResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.generic(method, path, body, "application/json", headers=named)


def assert_error(
    response: HttpResponse, status: int, code: str, message: str | None = None, *, fields: bool = False
) -> None:
    assert (response.status_code, response.headers["Content-Type"]) == (status, "application/json")
    body: dict[str, Any] = response.json()
    sentence = body["message"] if message is None else message
    assert sentence
    expected = {"success": False, "message": sentence, "code": code}
    if fields:
        assert [set(error) for error in body["errors"]] == [{"field", "code", "message"}] * len(
            body["errors"]
        )
        first = body["errors"][0]
        expected |= {"message": f"{first['field']}: {first['message']}", "errors": body["errors"]}
    assert body == expected
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def assert_unauthorized(response: HttpResponse, message: str) -> None:
    assert_error(response, 401, "not_authenticated", message)
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="api"'


NOT_GIVEN = "Authentication credentials were not provided."
BAD_KEY = "The API key is not valid."
BAD_TOKEN = "The token is not valid or has expired."


def test_every_documented_route_exists() -> None:
    there = {(method, re.sub(r"\{\w+\}", "{id}", route.path)) for route in ROUTES for method in route.methods}
    ours = {pair for pair in there if pair[1].startswith(OURS)}
    assert ours == DOCUMENTED


def test_no_path_ends_in_a_slash() -> None:
    assert [route.path for route in ROUTES if route.path.endswith("/")] == []


@for_every_call(PRIVATE)
def test_without_a_credential_it_is_401(method: str, route: Route, anonymous: APIClient) -> None:
    assert_unauthorized(send(anonymous, method, route.with_id(), b"{}"), NOT_GIVEN)


@for_every_call(PRIVATE)
def test_with_a_bad_key_it_is_401(method: str, route: Route, anonymous: APIClient, db: None) -> None:
    message = NOT_GIVEN if route.path in WITH_A_TOKEN_ONLY else BAD_KEY
    for key in ("", "wrong", "sl_live_" + "0" * 38, "sl_live_" + "0" * 32 + "3QF6xy"):
        assert_unauthorized(send(anonymous, method, route.with_id(), b"{}", x_api_key=key), message)


@for_every_call(PRIVATE)
def test_with_a_malformed_token_it_is_401(method: str, route: Route, anonymous: APIClient) -> None:
    for authorization in ("Bearer", "Bearer x", "bearer a.b.c", "Bearer é", "Bearer null"):
        response = send(anonymous, method, route.with_id(), b"{}", authorization=authorization)
        assert_unauthorized(response, BAD_TOKEN)


@for_every_call(PRIVATE)
def test_with_another_scheme_it_is_401(method: str, route: Route, anonymous: APIClient) -> None:
    for authorization in ("", "Basic eDp5", "Token x", "x"):
        response = send(anonymous, method, route.with_id(), b"{}", authorization=authorization)
        assert_unauthorized(response, NOT_GIVEN)


@for_every_call(PRIVATE)
def test_key_of_a_disabled_account_is_401(
    method: str, route: Route, alice: NewAccount, api: APIClient
) -> None:
    alice.user.is_active = False
    alice.user.save()
    message = NOT_GIVEN if route.path in WITH_A_TOKEN_ONLY else BAD_KEY
    assert_unauthorized(send(api, method, route.with_id(), b"{}"), message)
    assert_unauthorized(send(bearer_client(alice.user), method, route.with_id(), b"{}"), BAD_TOKEN)


@for_every_call(ROUTES, "POST", "PUT", "PATCH", "DELETE")
def test_broken_body_is_400(method: str, route: Route, bearer: APIClient) -> None:
    bodies = [b"{", b"[]", b"null", b'"text"', b'{"a":1,"a":2}', b"[" * 20_000, b"\xff", b'{"\\ud800":1}']
    for body in bodies:
        assert_error(send(bearer, method, route.with_id(), body), 400, "invalid_json")


@for_every_call(ROUTES, "POST", "PUT", "PATCH", "DELETE")
def test_body_of_another_kind_is_415_and_a_large_one_413(
    method: str, route: Route, bearer: APIClient
) -> None:
    response = bearer.generic(method, route.with_id(), b"a=1", "application/x-www-form-urlencoded")
    assert_error(response, 415, "unsupported_media_type")
    most = next((size for path, size in LARGE_BODIES.items() if route.path.startswith(path)), 65_536)
    assert_error(send(bearer, method, route.with_id(), b" " * most), 400, "invalid_json")
    assert_error(send(bearer, method, route.with_id(), b" " * (most + 1)), 413, "body_too_large")


@for_every_route(ROUTES)
def test_any_other_method_is_405_with_the_allowed_ones(route: Route, bearer: APIClient) -> None:
    allowed = route.methods | ({"HEAD"} if "GET" in route.methods else set())
    for method in set(ALL_METHODS) - route.methods:
        response = send(bearer, method, route.with_id())
        assert_error(response, 405, "method_not_allowed", f'Method "{method}" not allowed.')
        assert set(response.headers["Allow"].split(", ")) - {"OPTIONS"} == allowed


@for_every_route(PRIVATE)
def test_without_a_credential_the_allowed_methods_are_not_revealed(
    route: Route, anonymous: APIClient
) -> None:
    for method in ALL_METHODS:
        assert_unauthorized(send(anonymous, method, route.with_id()), NOT_GIVEN)


@for_every_call(WITH_ID)
def test_unknown_id_is_404(method: str, route: Route, bearer: APIClient) -> None:
    response = send(bearer, method, route.with_id(), b"" if method == "GET" else b"{}")
    assert_error(response, 404, "not_found")


MALFORMED = [
    *("x", "0", "1", "-1", "null", "undefined", "base", "'", "*", "é", "%25", "..%2f"),
    *("%00", "%ff", "%ED%A0%80", "a" * 5000, "9" * 400),
    *(UNKNOWN_ID[:-1], UNKNOWN_ID + "0", UNKNOWN_ID[:-1] + "g", UNKNOWN_ID.replace("-", "")),
    *(
        f"%7B{UNKNOWN_ID}%7D",
        f"urn:uuid:{UNKNOWN_ID}",
        f"{UNKNOWN_ID}%0a",
        f"{UNKNOWN_ID}%20",
        f"{UNKNOWN_ID}.json",
    ),
]


@for_every_call(WITH_ID)
def test_malformed_id_is_404(method: str, route: Route, bearer: APIClient) -> None:
    for identifier in MALFORMED:
        response = send(bearer, method, route.with_id(identifier), b"" if method == "GET" else b"{}")
        assert_error(response, 404, "not_found")


@for_every_call(ROUTES)
def test_trailing_slash_is_404(method: str, route: Route, bearer: APIClient) -> None:
    for after in ("/", "//", "/x/y"):
        assert_error(send(bearer, method, route.with_id() + after), 404, "not_found", "Not found.")


@for_every_route(ROUTES)
def test_paths_below_a_route_are_404(route: Route, bearer: APIClient) -> None:
    for after in ("/.", "%2f", "%20", ";", ".json", "%00", "%0a", "%3Fx=1"):
        assert_error(send(bearer, "GET", route.with_id() + after), 404, "not_found")


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
READABLE = [route for route in ROUTES if route.path not in DOCUMENTATION | FILES and "{" not in route.path]


@for_every_call(READABLE, "GET")
def test_success_is_json_for_any_accept_header(method: str, route: Route, bearer: APIClient) -> None:
    for accept in ACCEPTS:
        response = send(bearer, method, route.path, accept=accept)
        assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
        assert response.json()["success"] is True


@for_every_call(PRIVATE)
def test_errors_are_json_for_any_accept_header(method: str, route: Route, anonymous: APIClient) -> None:
    for accept in ACCEPTS:
        assert_unauthorized(send(anonymous, method, route.with_id(), accept=accept), NOT_GIVEN)
        without_route = send(anonymous, method, route.with_id() + "/", accept=accept)
        assert_error(without_route, 404, "not_found", "Not found.")


@for_every_call(READABLE, "GET")
def test_success_has_the_envelope_and_is_not_cached(method: str, route: Route, bearer: APIClient) -> None:
    for path in (route.path, route.path + "?unknown=1&format=html&_method=DELETE"):
        response = send(bearer, method, path)
        assert response.status_code == 200
        assert set(response.json()) <= TOP_LEVEL_KEYS
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert "Set-Cookie" not in response.headers


@for_every_call([route for route in ROUTES if route.path not in DOCUMENTATION])
def test_unknown_parameter_is_refused_if_the_client_prefers_that(
    method: str, route: Route, bearer: APIClient
) -> None:
    path = f"{route.with_id()}?colour=red"
    strict = send(bearer, method, path, b"" if method == "GET" else b"{}", prefer="handling=strict")
    [error] = strict.json()["errors"][:1]
    assert error == {"field": "colour", "code": "unknown_field", "message": "Unknown parameter."}
    assert (strict.status_code, strict.headers["Preference-Applied"]) == (400, "handling=strict")
    by_default = send(bearer, method, path, b"" if method == "GET" else b"{}")
    assert "Preference-Applied" not in by_default.headers
    assert by_default.status_code != 400 or "colour" not in by_default.content.decode()


@for_every_call(ROUTES, "POST", "PUT", "PATCH", "DELETE")
def test_unknown_field_is_refused_if_the_client_prefers_that(
    method: str, route: Route, bearer: APIClient
) -> None:
    body = b'{"colour":"red"}'
    strict = send(bearer, method, route.with_id(), body, prefer="handling=strict")
    [error] = strict.json()["errors"][:1]
    assert error == {"field": "colour", "code": "unknown_field", "message": "Unknown field."}
    assert (strict.status_code, strict.headers["Preference-Applied"]) == (400, "handling=strict")
    by_default = send(bearer, method, route.with_id(), body)
    assert by_default.status_code != 400 or "colour" not in by_default.content.decode()


@for_every_call(READABLE, "GET")
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
    ["/api", "/api/", "/api/nothing", "/api/urls/stats/x", "/api/auth", "/api/AUTH/login", "/api/%00", "/api/\u0130"],
)  # fmt: skip
def test_unknown_paths_are_404(path: str, db: None, anonymous: APIClient) -> None:
    for method in ALL_METHODS:
        assert_error(send(anonymous, method, path), 404, "not_found", "Not found.")
