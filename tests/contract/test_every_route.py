"""Rules for every route under /api. The routes are read from the service."""

import re
from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from testing.accounts.fixtures import alice as alice
from testing.cases import Test, for_each
from testing.contract.every_route import (
    ALL_METHODS,
    DOCUMENTATION,
    NOT_GIVEN,
    PRIVATE,
    ROUTES,
    UNKNOWN_ID,
    WITH_ID,
    Route,
    assert_error,
    assert_unauthorized,
    for_every_call,
    send,
)

DOCUMENTED = {
    ("POST", "/api/auth/login"),
    ("POST", "/api/auth/refresh"),
    ("GET", "/api/auth/api-key"),
    ("POST", "/api/auth/regenerate-api-key"),
    ("GET", "/api/auth/me"),
    ("PATCH", "/api/auth/me"),
    ("GET", "/api/auth/me/export"),
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
    ("GET", "/api/token-issuers"),
    ("POST", "/api/token-issuers"),
    ("GET", "/api/token-issuers/{id}"),
    ("PATCH", "/api/token-issuers/{id}"),
    ("DELETE", "/api/token-issuers/{id}"),
    ("GET", "/api/urls"),
    ("POST", "/api/urls"),
    ("GET", "/api/urls/{id}"),
    ("PUT", "/api/urls/{id}"),
    ("PATCH", "/api/urls/{id}"),
    ("DELETE", "/api/urls/{id}"),
    ("POST", "/api/urls/{id}/duplicate"),
    ("PUT", "/api/urls/upsert"),
    ("GET", "/api/urls/exists"),
    ("GET", "/api/urls/resolve"),
    ("GET", "/api/urls/deleted"),
    ("POST", "/api/urls/{id}/simulate"),
    ("GET", "/api/urls/{id}/history"),
    ("POST", "/api/urls/{id}/history/{id}/restore"),
    ("POST", "/api/urls/{id}/undelete"),
    ("GET", "/api/audit"),
    ("GET", "/api/requests"),
    ("POST", "/api/urls/bulk"),
    ("POST", "/api/urls/bulk-update"),
    ("POST", "/api/urls/bulk-delete"),
    ("POST", "/api/urls/check"),
    ("POST", "/api/urls/move"),
    ("POST", "/api/urls/import"),
    ("GET", "/api/urls/export"),
    ("POST", "/api/urls/sealed-export"),
    ("POST", "/api/urls/bulk-export"),
    ("GET", "/api/urls/count"),
    ("GET", "/api/urls/stats"),
    ("GET", "/api/urls/domains/available"),
    ("GET", "/api/utm-templates"),
    ("POST", "/api/utm-templates"),
    ("GET", "/api/utm-templates/{id}"),
    ("PATCH", "/api/utm-templates/{id}"),
    ("DELETE", "/api/utm-templates/{id}"),
    ("GET", "/api/tags"),
    ("GET", "/api/tags/{id}"),
    ("PATCH", "/api/tags/{id}"),
    ("DELETE", "/api/tags/{id}"),
    ("GET", "/api/tag-changes"),
    ("GET", "/api/tag-changes/{id}"),
    ("POST", "/api/tag-changes/{id}/undo"),
    ("GET", "/api/views"),
    ("POST", "/api/views"),
    ("GET", "/api/views/{id}"),
    ("PATCH", "/api/views/{id}"),
    ("DELETE", "/api/views/{id}"),
    ("GET", "/api/domains"),
    ("POST", "/api/domains"),
    ("GET", "/api/domains/{id}"),
    ("PATCH", "/api/domains/{id}"),
    ("DELETE", "/api/domains/{id}"),
    ("POST", "/api/domains/{id}/verify"),
    ("POST", "/api/domains/{id}/move"),
    ("GET", "/api/domains/{id}/analytics"),
    ("GET", "/api/domains/{id}/unknown-codes"),
    ("GET", "/api/analytics"),
    ("GET", "/api/analytics/clicks"),
    ("GET", "/api/analytics/sparklines"),
    ("GET", "/api/events"),
    ("GET", "/api/events/feed"),
    ("PUT", "/api/events/feed"),
    ("GET", "/api/analytics/report-mails"),
    ("PUT", "/api/analytics/report-mails"),
    ("GET", "/api/analytics/shares"),
    ("POST", "/api/analytics/shares"),
    ("GET", "/api/analytics/shares/{id}"),
    ("PATCH", "/api/analytics/shares/{id}"),
    ("DELETE", "/api/analytics/shares/{id}"),
    ("GET", "/api/analytics/{id}"),
    ("DELETE", "/api/analytics/{id}"),
    ("GET", "/api/analytics/{id}/devices"),
    ("GET", "/api/analytics/{id}/geographic"),
    ("GET", "/api/analytics/{id}/clicks"),
    ("GET", "/api/qr-codes"),
    ("POST", "/api/qr-codes"),
    ("GET", "/api/qr-codes/{id}"),
    ("DELETE", "/api/qr-codes/{id}"),
    ("GET", "/api/qr-codes/{id}/file"),
    ("POST", "/api/qr-codes/sheet"),
    ("GET", "/api/qr-designs"),
    ("POST", "/api/qr-designs"),
    ("GET", "/api/qr-designs/{id}"),
    ("PUT", "/api/qr-designs/{id}"),
    ("DELETE", "/api/qr-designs/{id}"),
    ("GET", "/api/schema"),
    ("GET", "/api/docs"),
    ("GET", "/api/docs/guide"),
    ("GET", "/api/docs/guide/{id}"),
    ("GET", "/api/docs/operations"),
    ("GET", "/api/docs/operations/{id}"),
    ("GET", "/api/docs/errors"),
    ("GET", "/api/docs/errors/{id}"),
}
# Their bodies may contain a logo or a thousand links.
LARGE_BODIES = {
    "/api/qr-codes": 202_072,
    "/api/qr-designs": 202_072,
    "/api/urls/bulk-delete": 65_536,
    "/api/urls/bulk-export": 65_536,
    "/api/urls/bulk": 4 * 1024 * 1024,
    "/api/urls/import": 8 * 1024 * 1024,
}
OURS = (
    *("/api/auth", "/api/urls", "/api/domains", "/api/analytics", "/api/qr-codes", "/api/qr-designs"),
    *("/api/audit", "/api/workspaces", "/api/invitations", "/api/keys", "/api/views", "/api/tag"),
    "/api/token-issuers",
    *("/api/utm-templates", "/api/events", "/api/requests"),
    # All paths begin with the root.
    *(DOCUMENTATION - {"/api/"}),
)


def for_every_route(chosen: list[Route]) -> Callable[[Test], Test]:
    return for_each("route", chosen)


def test_every_documented_route_exists() -> None:
    there = {(method, re.sub(r"\{\w+\}", "{id}", route.path)) for route in ROUTES for method in route.methods}
    ours = {pair for pair in there if pair[1].startswith(OURS)}
    assert ours == DOCUMENTED


def test_no_path_but_the_root_ends_in_a_slash() -> None:
    assert [route.path for route in ROUTES if route.path.endswith("/")] == ["/api/"]


@for_every_call(ROUTES, "POST", "PUT", "PATCH", "DELETE")
@pytest.mark.slow
def test_broken_body_is_400(method: str, route: Route, bearer: APIClient) -> None:
    bodies = [b"{", b"[]", b"null", b'"text"', b'{"a":1,"a":2}', b"[" * 20_000, b"\xff", b'{"\\ud800":1}']
    for body in bodies:
        assert_error(send(bearer, method, route.with_id(), body), 400, "invalid_json")


@for_every_call(ROUTES, "POST", "PUT", "PATCH", "DELETE")
@pytest.mark.slow
def test_body_of_another_kind_is_415_and_a_large_one_413(
    method: str, route: Route, bearer: APIClient
) -> None:
    response = bearer.generic(method, route.with_id(), b"a=1", "application/x-www-form-urlencoded")
    assert_error(response, 415, "unsupported_media_type")
    most = next((size for path, size in LARGE_BODIES.items() if route.path.startswith(path)), 65_536)
    assert_error(send(bearer, method, route.with_id(), b" " * most), 400, "invalid_json")
    assert_error(send(bearer, method, route.with_id(), b" " * (most + 1)), 413, "body_too_large")


@for_every_route(ROUTES)
@pytest.mark.slow
def test_any_other_method_is_405_with_the_allowed_ones(route: Route, bearer: APIClient) -> None:
    allowed = route.methods | ({"HEAD"} if "GET" in route.methods else set())
    for method in set(ALL_METHODS) - route.methods:
        response = send(bearer, method, route.with_id())
        assert_error(response, 405, "method_not_allowed", f'Method "{method}" not allowed.')
        assert set(response.headers["Allow"].split(", ")) - {"OPTIONS"} == allowed


@for_every_route(PRIVATE)
@pytest.mark.slow
def test_without_a_credential_the_allowed_methods_are_not_revealed(
    route: Route, anonymous: APIClient
) -> None:
    for method in ALL_METHODS:
        assert_unauthorized(send(anonymous, method, route.with_id()), NOT_GIVEN)


@for_every_call(WITH_ID)
@pytest.mark.slow
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
@pytest.mark.slow
def test_malformed_id_is_404(method: str, route: Route, bearer: APIClient) -> None:
    for identifier in MALFORMED:
        response = send(bearer, method, route.with_id(identifier), b"" if method == "GET" else b"{}")
        assert_error(response, 404, "not_found")


@for_every_call(ROUTES)
@pytest.mark.slow
def test_trailing_slash_is_404(method: str, route: Route, bearer: APIClient) -> None:
    for after in ("/", "//", "/x/y"):
        assert_error(send(bearer, method, route.with_id() + after), 404, "not_found", "Not found.")


@for_every_route(ROUTES)
@pytest.mark.slow
def test_paths_below_a_route_are_404(route: Route, bearer: APIClient) -> None:
    for after in ("/.", "%2f", "%20", ";", ".json", "%00", "%0a", "%3Fx=1"):
        assert_error(send(bearer, "GET", route.with_id() + after), 404, "not_found")
