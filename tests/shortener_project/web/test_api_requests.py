from __future__ import annotations

import logging
from ipaddress import ip_network
from typing import Any

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.host.metrics import REGISTRY
from common.ids import parse_public_id

PROXY = "10.1.2.3"


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO)
    return caplog


def logged(lines: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The fields of each request's log line, without its duration."""
    entries = [
        record.__dict__["fields"]
        for record in lines.records
        if record.name == "shortener_project.web.middleware"
    ]
    return [{name: value for name, value in entry.items() if name != "milliseconds"} for entry in entries]


def requests(route: str, status: str) -> float:
    labels = {"route": route, "status": status}
    return REGISTRY.get_sample_value("shortener_api_request_seconds_count", labels) or 0.0


def test_each_request_is_one_line(
    api: APIClient, anonymous: APIClient, alice: NewAccount, lines: pytest.LogCaptureFixture
) -> None:
    account = str(alice.user.public_id)
    api.get("/api/urls?search=word")
    api.post("/api/urls", {"originalUrl": "nonsense"})
    api.get("/api/urls/01890000-0000-7000-8000-000000000000")
    anonymous.get("/api/urls")
    anonymous.get("/api/nothing/at/all?key=sl_live_x")
    anonymous.get("/healthz")
    urls = "/api/urls"
    assert logged(lines) == [
        {"method": "GET", "route": urls, "status": 200, "account": account},
        {"method": "POST", "route": urls, "status": 400, "account": account, "code": "validation_error"},
        {"method": "GET", "route": "/api/urls/{id}", "status": 404, "account": account, "code": "not_found"},
        {"method": "GET", "route": urls, "status": 401, "code": "not_authenticated"},
        {"method": "GET", "route": "unmatched", "status": 404},
    ]


def test_addresses_are_logged_only_if_configured(
    api: APIClient, lines: pytest.LogCaptureFixture, settings: Settings
) -> None:
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    for log_addresses in (False, True):
        settings.LOG_ADDRESSES = log_addresses
        api.get("/api/urls", REMOTE_ADDR=PROXY, headers={"x-forwarded-for": "203.0.113.9"})
    assert [entry.get("address") for entry in logged(lines)] == [None, "203.0.113.9"]


def test_each_response_has_its_own_id(api: APIClient, anonymous: APIClient) -> None:
    responses = [
        api.get("/api/urls"),
        api.get("/api/urls"),
        anonymous.get("/api/nothing"),
        anonymous.get("/api"),
    ]
    identifiers = [response.headers["X-Request-ID"] for response in responses]
    assert len(set(identifiers)) == 4
    assert all(parse_public_id(identifier) for identifier in identifiers)


@pytest.mark.parametrize("identifier", ["0af7651916cd43dd8448eb211c80319c", "a.b-c_1234", "x" * 64])
def test_request_id_of_a_trusted_proxy_is_kept(identifier: str, api: APIClient, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    response = api.get("/api/urls", REMOTE_ADDR=PROXY, headers={"x-request-id": identifier})
    assert response.headers["X-Request-ID"] == identifier


@pytest.mark.parametrize(
    "identifier",
    ["", "short", "x" * 65, "with spaces in it", "a\nforged: line", "\x1b[31mred", "é" * 10, "٣" * 10],
)
def test_invalid_request_id_is_replaced(identifier: str, api: APIClient, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    response = api.get("/api/urls", REMOTE_ADDR=PROXY, headers={"x-request-id": identifier})
    assert parse_public_id(response.headers["X-Request-ID"])


def test_request_id_of_an_untrusted_client_is_replaced(api: APIClient, settings: Settings) -> None:
    for proxies in ([], [ip_network("10.0.0.0/8")]):
        settings.TRUSTED_PROXIES = proxies
        response = api.get("/api/urls", REMOTE_ADDR="192.0.2.1", headers={"x-request-id": "0123456789"})
        assert parse_public_id(response.headers["X-Request-ID"])


def test_requests_are_timed_by_route_and_class_of_status(api: APIClient, anonymous: APIClient) -> None:
    cases = [("/api/urls", "2xx"), ("/api/urls", "4xx"), ("/api/urls/{id}", "4xx"), ("unmatched", "4xx")]
    before = [requests(*case) for case in cases]
    api.get("/api/urls")
    anonymous.get("/api/urls")
    for identifier in ("a", "b", "c"):
        api.get(f"/api/urls/{identifier}")
        anonymous.get(f"/api/{identifier}")
    after = [requests(*case) for case in cases]
    assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1, 3, 3]
