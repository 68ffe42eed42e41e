"""Another tenant's objects, on every endpoint that takes an id, with both credentials: there are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from tests.conftest import bearer_client
from tests.contract.test_every_route import WITH_ID, Route, calls, send

WORDS = ("sesame-street", "brand.example", "her-private-title", "alice", "herCode1")
ID = "an id of hers"
# What an endpoint that reads a body takes, so that it is the id that is refused.
BODY = b'{"title": "stolen", "isActive": false, "rootUrl": "https://evil.example/"}'


@pytest.fixture
def hers(api: APIClient, make_link: Callable[..., dict[str, Any]]) -> dict[str, str]:
    """One of each kind of Alice's."""
    link = make_link("https://example.com/sesame-street", title="her-private-title", customCode="herCode1")
    domain = api.post("/api/domains", {"domain": "go.brand.example"}).json()["data"]["domain"]
    code = api.post("/api/qr-codes", {"urlId": link["_id"]}).json()["data"]["qrCode"]
    return {"url": link["_id"], "domain": domain["_id"], "qr": code["_id"]}


@pytest.fixture
def strangers(stranger: NewAccount, strange_api: APIClient) -> list[APIClient]:
    return [strange_api, bearer_client(stranger.user)]


def everything(client: APIClient, hers: dict[str, str]) -> list[Any]:
    """Alice's objects as she sees them."""
    paths = (
        f"/api/urls/{hers['url']}",
        f"/api/domains/{hers['domain']}",
        f"/api/qr-codes/{hers['qr']}",
        "/api/urls",
    )
    return [client.get(path).json() for path in paths]


def assert_nothing_of_hers(response: Any, hers: dict[str, str]) -> None:
    text = response.content.decode()
    assert [word for word in (*WORDS, *hers.values()) if word in text] == []


@calls(WITH_ID)
def test_an_id_of_another_tenant_is_404(
    method: str, route: Route, api: APIClient, hers: dict[str, str], strangers: list[APIClient]
) -> None:
    before = everything(api, hers)

    for client in strangers:
        for identifier in hers.values():
            response = send(client, method, route.with_id(identifier), b"" if method == "GET" else BODY)
            assert (response.status_code, response.json()["code"]) == (404, "not_found")
            assert_nothing_of_hers(response, hers)

    assert everything(api, hers) == before


@pytest.mark.parametrize("kind", ["url", "domain", "qr"])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/qr-codes", {"urlId": ID}),
        ("POST", "/api/urls", {"originalUrl": "https://example.com/", "domainId": ID}),
        ("GET", "/api/qr-codes", {"urlId": ID}),
    ],
)
def test_an_id_in_a_body_or_query_is_404_too(
    hers: dict[str, str],
    strangers: list[APIClient],
    *,
    kind: str,
    method: str,
    path: str,
    body: dict[str, str],
) -> None:
    sent = {name: hers[kind] if value == ID else value for name, value in body.items()}
    for client in strangers:
        response = client.get(path, sent) if method == "GET" else client.post(path, sent)
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
        assert_nothing_of_hers(response, hers)


@pytest.mark.parametrize(
    "path",
    ["/api/urls", "/api/urls?search=sesame", "/api/urls?limit=100&sortBy=clickCount", "/api/urls/stats",
     "/api/urls/domains/available", "/api/domains", "/api/qr-codes"],
)  # fmt: skip
def test_lists_hold_nothing_of_another_tenant(
    path: str, hers: dict[str, str], strangers: list[APIClient]
) -> None:
    for client in strangers:
        response = client.get(path)
        assert response.status_code == 200
        assert_nothing_of_hers(response, hers)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("bulk", {"urls": [{"originalUrl": "https://example.com/", "domainId": "domain"}]}),
        (
            "bulk-update",
            {"ids": ["url", "domain", "qr"], "data": {"title": "stolen", "customCode": "stolen"}},
        ),
        ("bulk-update", {"urls": [{"_id": "url", "isActive": False}, {"_id": "qr"}, {"_id": "domain"}]}),
        ("bulk-delete", {"ids": ["url", "domain", "qr"]}),
    ],
)
def test_each_of_many_ids_is_404(
    path: str, body: dict[str, Any], api: APIClient, hers: dict[str, str], strangers: list[APIClient]
) -> None:
    before = everything(api, hers)
    text = json.dumps(body)
    for name, identifier in hers.items():
        text = text.replace(f'"{name}"', f'"{identifier}"')

    for client in strangers:
        response = client.generic("POST", f"/api/urls/{path}", text, "application/json")
        assert response.status_code == 200
        results = response.json()["data"]["results"]
        assert {(each["status"], each["code"]) for each in results} == {(404, "not_found")}
        assert_nothing_of_hers(response, hers)

    assert everything(api, hers) == before


def test_files_neither_take_nor_give_what_is_another_tenants(
    hers: dict[str, str], strangers: list[APIClient]
) -> None:
    for client in strangers:
        body = {"content": "originalUrl\nhttps://example.com/\n", "domainId": hers["domain"], "dryRun": False}
        assert client.post("/api/urls/import", body).status_code == 404
        for file_format in ("csv", "jsonl"):
            file = b"".join(client.get(f"/api/urls/export?format={file_format}").streaming_content).decode()
            assert [word for word in (*WORDS, *hers.values()) if word in file] == []
