"""Without COMPATIBLE_APIS, the paths of other shorteners' APIs are unknown."""

from __future__ import annotations

from rest_framework.test import APIClient

from compatible.urls import ROUTES
from testing.cases import for_each

PATHS = [str(route.pattern) for routes in ROUTES.values() for route in routes]


@for_each(("path",), [(path,) for path in PATHS])
def test_it_is_off_by_default(api: APIClient, path: str) -> None:
    for response in (api.get(f"/{path}"), api.post(f"/{path}", {"longUrl": "https://example.com/"})):
        assert response.status_code == 404
        assert "X-Request-ID" not in response
