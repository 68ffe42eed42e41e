"""Browser front ends of other origins: which are allowed, what they may send and what they may read."""

from __future__ import annotations

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

FRONT_END, FOREIGN = "https://app.example.com", "https://evil.example"
SENT = {
    "accept",
    "authorization",
    "content-type",
    "idempotency-key",
    "if-match",
    "if-none-match",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "prefer",
    "x-api-key",
    "x-request-id",
    "x-workspace",
}
READ = {
    *(
        "Data-Lag",
        "Deprecation",
        "ETag",
        "Idempotent-Replayed",
        "Link",
        "Location",
        "Preference-Applied",
        "Retry-After",
        "Sunset",
    ),
    "X-Request-ID",
    *("RateLimit", "RateLimit-Limit", "RateLimit-Policy", "RateLimit-Remaining", "RateLimit-Reset"),
}


@pytest.fixture(autouse=True)
def allowed(settings: Settings) -> None:
    settings.CORS_ALLOWED_ORIGINS = [FRONT_END]


def preflight(client: APIClient, origin: str, path: str = "/api/urls", **headers: str):
    request_headers = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "x-api-key",
        **headers,
    }
    return client.options(path, headers={"origin": origin, **request_headers})


def cors(response) -> dict[str, str]:
    return {
        name: value for name, value in response.headers.items() if name.lower().startswith("access-control-")
    }


def listed(value: str) -> set[str]:
    return {word.strip() for word in value.split(",")}


def test_a_preflight_of_an_allowed_origin_needs_no_credential(anonymous: APIClient) -> None:
    response = preflight(anonymous, FRONT_END)

    response_headers = {name.lower(): value for name, value in cors(response).items()}
    assert (response.status_code, response.content) == (200, b"")
    assert response_headers.pop("access-control-allow-origin") == FRONT_END
    assert listed(response_headers.pop("access-control-allow-headers")) == SENT
    assert listed(response_headers.pop("access-control-allow-methods")) == {
        "GET",
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
    }
    assert listed(response_headers.pop("access-control-expose-headers")) == READ
    assert response_headers == {"access-control-max-age": "86400"}
    assert "origin" in response["Vary"].lower()


@pytest.mark.parametrize(
    "origin",
    [FOREIGN, "null", "", "http://app.example.com", "https://app.example.com:8443", "https://app.example.com.evil.example",
     "https://evil.example#https://app.example.com", "https://xapp.example.com", "file://", "https://[::1"],
)  # fmt: skip
def test_other_origins_are_allowed_nothing(origin: str, anonymous: APIClient, api: APIClient) -> None:
    assert cors(preflight(anonymous, origin)) == {}
    response = api.get("/api/urls", headers={"origin": origin})
    assert (response.status_code, cors(response)) == (200, {})
    assert "origin" in response["Vary"].lower()


def test_refusals_are_readable_like_successes(anonymous: APIClient, api: APIClient) -> None:
    origin = {"origin": FRONT_END}
    responses = [
        api.get("/api/urls", headers=origin),
        api.post("/api/urls", {}, headers=origin),
        anonymous.get("/api/urls", headers=origin),
        anonymous.get("/api/nothing", headers=origin),
        anonymous.put("/api/urls", headers=origin),
        api.generic("POST", "/api/urls", b"x" * 70_000, "application/json", headers=origin),
    ]
    assert [response.status_code for response in responses] == [200, 400, 401, 404, 401, 413]
    for response in responses:
        assert response["Access-Control-Allow-Origin"] == FRONT_END
        assert listed(response["Access-Control-Expose-Headers"]) == READ
        assert "Access-Control-Allow-Credentials" not in response


def test_server_errors_are_readable_too(api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("links.selectors.overview", lambda *_: 1 / 0)
    api.raise_request_exception = False

    response = api.get("/api/urls/stats", headers={"origin": FRONT_END})

    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (500, FRONT_END)


def test_allowing_any_origin_never_allows_cookies(settings: Settings, api: APIClient) -> None:
    settings.CORS_ALLOW_ALL_ORIGINS, settings.CORS_ALLOWED_ORIGINS = True, []

    response = api.get("/api/urls", headers={"origin": FOREIGN})

    assert response["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in response
    assert settings.CORS_ALLOW_CREDENTIALS is False


@pytest.mark.parametrize(
    "path", ["/", "/AbC1234", "/admin/login/", "/healthz", "/apis", "/static/admin/css/base.css"]
)
def test_only_the_api_is_open_to_other_origins(path: str, anonymous: APIClient, db: None) -> None:
    assert cors(preflight(anonymous, FRONT_END, path)) == {}
    response = anonymous.get(path, headers={"origin": FRONT_END})
    assert cors(response) == {}
    response.close()


def test_a_preflight_to_a_custom_domain_is_404(anonymous: APIClient, db: None) -> None:
    response = preflight(anonymous, FRONT_END, host="go.example.net")
    assert (response.status_code, cors(response)) == (404, {})
