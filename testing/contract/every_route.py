"""Every route of the API."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.test import APIClient

from testing.cases import Test, for_each

UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"
ALL_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"]
# They return pages and a description; their errors use the envelope too.
DOCUMENTATION = {
    *("/api/", "/api/schema", "/api/docs", "/api/docs/errors", "/api/docs/errors/{code}"),
    *("/api/docs/guide", "/api/docs/guide/{name}", "/api/docs/operations", "/api/docs/operations/{name}"),
}
# Every other route requires a credential and accepts a key as well as a token.
FOR_ANYBODY = {"/api/auth/login", "/api/auth/refresh", *DOCUMENTATION}
NOT_GIVEN = "Authentication credentials were not provided."
WITH_A_TOKEN_ONLY = {
    *("/api/auth/api-key", "/api/auth/regenerate-api-key", "/api/auth/me", "/api/auth/change-password"),
    "/api/auth/me/export",
    *("/api/auth/logout", "/api/auth/sessions", "/api/auth/sessions/{id}"),
    *("/api/invitations/{token}/accept", "/api/keys", "/api/keys/{id}", "/api/keys/{id}/rotate"),
    *("/api/token-issuers", "/api/token-issuers/{id}"),
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


ROUTES = routes()
PRIVATE = [route for route in ROUTES if route.path not in FOR_ANYBODY]
WITH_ID = [route for route in ROUTES if "{" in route.path]


def for_every_call(chosen: list[Route], *methods: str) -> Callable[[Test], Test]:
    """Each method of each route, or only ``methods`` if given."""
    pairs = [
        (method, route) for route in chosen for method in sorted(route.methods) if method in (methods or ALL_METHODS)
    ]  # fmt: skip
    return for_each(("method", "route"), pairs)


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
