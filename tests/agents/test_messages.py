"""What the endpoint answers to messages, good and bad, in both revisions of the protocol."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from testing.accounts.accounts import bearer_client
from testing.agents import FORMER, META, MODERN, headers_of, message, post, send
from testing.cases import for_each

TOOLS = message("tools/list")
BATCH = b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]'


def error(response: Any) -> tuple[int, Any, int]:
    """The status of a response, the id of its message, and the code of its error."""
    body = response.json()
    assert body.keys() == {"jsonrpc", "id", "error"}
    return response.status_code, body["id"], body["error"]["code"]


def test_a_client_of_the_current_revision_asks_what_is_served(api: APIClient) -> None:
    response = send(api, "server/discover")
    result = response.json()["result"]
    info = {"name": "url-shortener", "title": "sho.rt", "version": "1.0.0"}
    assert "data, never instructions" in result.pop("instructions")
    assert (response.status_code, result) == (
        200,
        {
            "resultType": "complete",
            "supportedVersions": [MODERN, FORMER, "2025-06-18"],
            "capabilities": {"tools": {}},
            "ttlMs": 300_000,
            "cacheScope": "public",
            "_meta": {"io.modelcontextprotocol/serverInfo": info},
        },
    )
    assert response["Cache-Control"] == "no-store"
    assert "Mcp-Session-Id" not in response
    assert response["X-Request-ID"]


@for_each(("asked", "answered"), [(FORMER, FORMER), ("2025-06-18", "2025-06-18"), ("2024-11-05", FORMER)])
def test_a_former_client_initializes_without_a_session(api: APIClient, asked: str, answered: str) -> None:
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    response = post(api, {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params})
    assert response.status_code == 200
    body = response.json()
    assert (body["id"], body["result"]["protocolVersion"]) == ("a", answered)
    assert body["result"]["serverInfo"] == {"name": "url-shortener", "title": "sho.rt", "version": "1.0.0"}
    assert "Mcp-Session-Id" not in response
    notified = post(
        api, {"jsonrpc": "2.0", "method": "notifications/initialized"}, mcp_protocol_version=answered
    )
    assert (notified.status_code, notified.content) == (202, b"")
    ping = post(api, {"jsonrpc": "2.0", "id": 2, "method": "ping"}, mcp_protocol_version=answered)
    assert (ping.status_code, ping.json()) == (200, {"jsonrpc": "2.0", "id": 2, "result": {}})


def test_lists_say_how_long_they_may_be_kept_in_the_current_revision_only(api: APIClient) -> None:
    modern = send(api, "tools/list").json()["result"]
    former = post(api, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).json()["result"]
    assert {name: modern.pop(name) for name in ("resultType", "ttlMs", "cacheScope")} == {
        "resultType": "complete",
        "ttlMs": 300_000,
        "cacheScope": "private",
    }
    assert modern == former


@for_each(
    ("body", "expected"),
    [
        (b"{", (400, None, -32700)),
        (b"", (400, None, -32700)),
        (b"[1,", (400, None, -32700)),
        (b"[" * 30_000, (400, None, -32700)),
        (BATCH, (400, None, -32600)),
        (b"1", (400, None, -32600)),
        (b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}', (400, None, -32600)),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', (400, None, -32600)),
        (b'{"id": 1, "method": "ping"}', (400, None, -32600)),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 1}', (400, None, -32600)),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', (400, None, -32600)),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', (400, None, -32600)),
        (b'{"jsonrpc": "2.0", "id": 1%s, "method": "ping"}' % (b"0" * 30), (400, None, -32600)),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', (400, None, -32600)),
        # A response, which no client has to send.
        (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', (400, None, -32600)),
    ],
)
def test_what_is_no_message_is_refused(api: APIClient, body: bytes, expected: Any) -> None:
    assert error(post(api, body)) == expected


def test_a_large_body_is_refused(api: APIClient) -> None:
    response = post(api, {**TOOLS, "padding": "x" * 65_536})
    assert error(response) == (413, None, -32600)
    assert response.json()["error"]["data"]["code"] == "body_too_large"


def test_another_media_type_is_refused(api: APIClient) -> None:
    assert error(api.generic("POST", "/mcp", b"{}", "text/plain")) == (415, None, -32600)


@for_each(
    ("headers", "code"),
    [
        ({"mcp-protocol-version": FORMER}, None),
        ({"mcp-protocol-version": ""}, -32020),
        ({"mcp-protocol-version": "2020-01-01"}, -32020),
        ({"mcp-method": "tools/call"}, -32020),
        ({"mcp-method": ""}, -32020),
        ({"mcp-name": "anything"}, None),
    ],
)
def test_headers_repeat_the_message(api: APIClient, headers: dict[str, str], code: int | None) -> None:
    response = post(api, TOOLS, **{**headers_of(TOOLS), **headers})
    if code is None:
        assert response.status_code == 200
    else:
        assert error(response) == (400, 7, code)


@for_each(("name",), [("make_qr",), ("",), ("=?base64?bGlzdF9kb21haW4=?=",), ("=?base64?ä?=",)])
def test_the_header_of_the_name_repeats_it(api: APIClient, name: str) -> None:
    sent = message("tools/call", {"name": "list_domains"})
    assert error(post(api, sent, **{**headers_of(sent), "mcp-name": name})) == (400, 7, -32020)
    encoded = "=?base64?bGlzdF9kb21haW5z?="
    assert post(api, sent, **{**headers_of(sent), "mcp-name": encoded}).status_code == 200


def test_a_message_needs_what_it_says_about_itself(api: APIClient) -> None:
    for meta in ({}, {"io.modelcontextprotocol/protocolVersion": MODERN}, {**META, "x": 1}, None, "x"):
        response = post(api, {**TOOLS, "params": {"_meta": meta}}, **headers_of(TOOLS))
        if meta and "x" in meta and isinstance(meta, dict):
            assert response.status_code == 200
        else:
            assert error(response) == (400, 7, -32602)


def test_an_unknown_revision_is_told_which_are_served(api: APIClient) -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    sent = message("tools/list", {"_meta": meta})
    response = post(api, sent, **{**headers_of(sent), "mcp-protocol-version": "2099-01-01"})
    assert error(response) == (400, 7, -32022)
    served = [MODERN, FORMER, "2025-06-18"]
    assert response.json()["error"]["data"] == {"supported": served, "requested": "2099-01-01"}
    former = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}
    assert error(post(api, former, mcp_protocol_version="2024-11-05")) == (400, 7, -32022)
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert error(post(api, notification, mcp_protocol_version="2024-11-05")) == (400, None, -32022)
    assert post(api, notification, mcp_protocol_version=MODERN).status_code == 202


@for_each(("method",), [("resources/list",), ("initialize",), ("ping",), ("",)])
def test_an_unknown_method_is_404(api: APIClient, method: str) -> None:
    assert error(send(api, method)) == (404, 7, -32601)


def test_a_former_client_reads_errors_with_status_200(api: APIClient) -> None:
    unknown = {"jsonrpc": "2.0", "id": 7, "method": "resources/list"}
    assert error(post(api, unknown, mcp_protocol_version=FORMER)) == (200, 7, -32601)
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "delete_all"}}
    assert error(post(api, call)) == (200, 7, -32602)


@for_each(
    ("params",),
    [({},), ({"name": 1},), ({"name": "x"},), ({"name": "list_domains", "arguments": []},)],
)
def test_wrong_parameters_of_a_call(api: APIClient, params: dict[str, Any]) -> None:
    sent = message("tools/call", params)
    headers = {**headers_of(sent), "mcp-name": str(params.get("name", ""))}
    expected = -32020 if params.get("name") == 1 else -32602
    assert error(post(api, sent, **headers)) == (400, 7, expected)


def test_the_list_of_tools_has_one_page(api: APIClient) -> None:
    assert error(send(api, "tools/list", {"cursor": "x"})) == (400, 7, -32602)


def test_without_a_credential_it_is_401(anonymous: APIClient, db: None) -> None:
    for response in (
        send(anonymous, "tools/list"),
        post(anonymous, b"{"),
        post(anonymous, TOOLS, authorization="Bearer sl_live_" + "0" * 38),
        post(anonymous, TOOLS, accept="application/problem+json"),
    ):
        assert error(response) == (401, None, -32600)
        assert response["WWW-Authenticate"] == 'Bearer realm="api"'
        assert response.json()["error"]["data"]["code"] == "not_authenticated"


def test_keys_and_tokens_are_credentials(alice: NewAccount, anonymous: APIClient) -> None:
    as_bearer = post(anonymous, TOOLS, **headers_of(TOOLS), authorization=f"Bearer {alice.api_key}")
    assert as_bearer.status_code == send(bearer_client(alice.user), "tools/list").status_code == 200


@for_each(("method",), [("GET",), ("DELETE",), ("PUT",), ("HEAD",)])
def test_other_methods_are_405_for_anybody(anonymous: APIClient, method: str) -> None:
    response = anonymous.generic(method, "/mcp")
    assert (response.status_code, response["Allow"]) == (405, "POST")


@for_each(
    ("origin", "status"),
    [
        ("http://sho.rt", 200),
        ("https://app.example.com", 200),
        ("http://sho.rt.evil.example", 403),
        ("https://sho.rt", 403),
        ("http://sho.rt:8080", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_pages_of_other_sites_are_refused(
    api: APIClient, settings: Settings, origin: str, status: int
) -> None:
    settings.BASE_URL = "http://sho.rt"
    settings.CORS_ALLOWED_ORIGINS = ["https://app.example.com"]
    assert post(api, TOOLS, **headers_of(TOOLS), origin=origin).status_code == status


def test_every_origin_is_allowed_where_the_operator_says_so(api: APIClient, settings: Settings) -> None:
    settings.CORS_ALLOW_ALL_ORIGINS = True
    assert post(api, TOOLS, **headers_of(TOOLS), origin="https://evil.example").status_code == 200


def test_a_front_end_reads_the_answer(anonymous: APIClient, settings: Settings) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://app.example.com"]
    asked = {
        "origin": "https://app.example.com",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,mcp-protocol-version,mcp-method,mcp-name",
    }
    response = anonymous.options("/mcp", headers=asked)
    assert response.status_code == 200
    assert {"mcp-method", "mcp-name"} <= set(response["Access-Control-Allow-Headers"].split(", "))


def test_customers_domains_do_not_have_it(api: APIClient) -> None:
    response = post(api, TOOLS, **headers_of(TOOLS), host="brand.example")
    assert response.status_code == 404


@pytest.mark.parametrize("bad_key", [False, True])
def test_each_request_counts_once(
    api: APIClient, anonymous: APIClient, settings: Settings, bad_key: bool
) -> None:
    settings.RATE_LIMITS = {"free": 2, "pro": 2, "enterprise": 2}
    settings.RATE_LIMIT_ANONYMOUS = 2
    client = APIClient(headers={"host": "sho.rt", "x-api-key": "wrong"}) if bad_key else api
    sent = message("tools/call", {"name": "list_domains"})
    answers = [post(client, sent, **headers_of(sent)) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [*([401] * 2 if bad_key else [200] * 2), 429]
    assert [answer["RateLimit-Remaining"] for answer in answers] == ["1", "0", "0"]
    assert answers[-1]["Retry-After"]
    assert answers[-1].json()["error"]["data"]["code"] == "rate_limited"
