"""Responses about reports, accounts and domains, and refusals, agree with the description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from analytics.models import Kind
from analytics.visitors import geo
from common import resolver
from links import selectors
from testing.accounts.accounts import PASSWORD, log_in, token_client
from testing.analytics.facts import Fact, record
from testing.contract.description import REPORTS, UNKNOWN_ID, WHOLE, validate
from testing.contract.description import agrees as agrees
from testing.contract.description import described as described
from testing.domains.dns_server import dns_server
from testing.domains.domains import publish


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
    agrees(api.get(path, {**days, "interval": "hour"}), 400 if part else 200)
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


def test_a_body_of_every_field_is_as_described(described: dict[str, Any]) -> None:
    validate(described, {"$ref": "#/components/schemas/CreateLinkRequest"}, {**WHOLE, "expiresAt": None})
    assert set(described["components"]["schemas"]["CreateLinkRequest"]["properties"]) == {
        *WHOLE,
        "findIfExists",
    }


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
@pytest.mark.slow
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
        for _ in range(58):
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
