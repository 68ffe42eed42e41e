"""Another tenant's objects are not found by any endpoint that accepts an id, with either credential."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from testing.accounts.accounts import bearer_client
from testing.cases import for_each
from testing.contract.every_route import WITH_A_TOKEN_ONLY, WITH_ID, Route, for_every_call, send

WORDS = ("sesame-street", "brand.example", "her-private-title", "alice", "herCode1")
ID = "an id of hers"
# A valid body for endpoints that read one, so that only the id is refused.
BODY = b'{"description": "stolen", "isActive": false, "rootUrl": "https://evil.example/"}'
# There, `isActive` belongs to the filters.
BODIES = {"/api/views/{id}": b'{"name": "stolen"}', "/api/analytics/shares/{id}": b'{"noIndex": false}'}


@pytest.fixture
def alices(api: APIClient, make_link: Callable[..., dict[str, Any]]) -> dict[str, str]:
    """One object of each kind, owned by Alice."""
    link = make_link("https://example.com/sesame-street", title="her-private-title", customCode="herCode1")
    domain = api.post("/api/domains", {"domain": "go.brand.example"}).json()["data"]["domain"]
    code = api.post("/api/qr-codes", {"urlId": link["_id"]}).json()["data"]["qrCode"]
    design = api.post("/api/qr-designs", {"name": "her-private-design"}).json()["data"]["design"]
    return {"url": link["_id"], "domain": domain["_id"], "qr": code["_id"], "design": design["_id"]}


@pytest.fixture
def strangers(stranger: NewAccount, strange_api: APIClient) -> list[APIClient]:
    return [strange_api, bearer_client(stranger.user)]


def all_bodies(client: APIClient, alices: dict[str, str]) -> list[Any]:
    """Alice's objects as she sees them."""
    paths = (
        f"/api/urls/{alices['url']}",
        f"/api/domains/{alices['domain']}",
        f"/api/qr-codes/{alices['qr']}",
        f"/api/qr-designs/{alices['design']}",
        "/api/urls",
    )
    return [client.get(path).json() for path in paths]


def assert_nothing_of_alice(response: Any, alices: dict[str, str]) -> None:
    text = response.content.decode()
    assert [word for word in (*WORDS, *alices.values()) if word in text] == []


@for_every_call(WITH_ID)
def test_an_id_of_another_tenant_is_404(
    method: str, route: Route, api: APIClient, alices: dict[str, str], strangers: list[APIClient]
) -> None:
    before = all_bodies(api, alices)

    # A key gets the same 401 for every id there.
    for client in strangers[1:] if route.path in WITH_A_TOKEN_ONLY else strangers:
        for identifier in alices.values():
            body = b"" if method == "GET" else BODIES.get(route.path, BODY)
            response = send(client, method, route.with_id(identifier), body)
            assert (response.status_code, response.json()["code"]) == (404, "not_found")
            assert_nothing_of_alice(response, alices)

    assert all_bodies(api, alices) == before


@for_each("kind", ["url", "domain", "qr"])
@for_each(
    ("method", "path", "body"),
    [
        ("POST", "/api/qr-codes", {"urlId": ID}),
        ("POST", "/api/urls", {"originalUrl": "https://example.com/", "domainId": ID}),
        ("GET", "/api/qr-codes", {"urlId": ID}),
    ],
)
def test_an_id_in_a_body_or_query_is_404_too(
    alices: dict[str, str],
    strangers: list[APIClient],
    *,
    kind: str,
    method: str,
    path: str,
    body: dict[str, str],
) -> None:
    sent = {name: alices[kind] if value == ID else value for name, value in body.items()}
    for client in strangers:
        response = client.get(path, sent) if method == "GET" else client.post(path, sent)
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
        assert_nothing_of_alice(response, alices)


@for_each(
    "path",
    ["/api/urls", "/api/urls?search=sesame", "/api/urls?limit=100&sortBy=clickCount", "/api/urls/stats",
     "/api/urls/domains/available", "/api/domains", "/api/qr-codes", "/api/qr-designs",
     "/api/audit", "/api/requests"],
)  # fmt: skip
def test_lists_contain_nothing_of_another_tenant(
    path: str, alices: dict[str, str], strangers: list[APIClient]
) -> None:
    for client in strangers:
        response = client.get(path)
        assert response.status_code == 200
        assert_nothing_of_alice(response, alices)


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
        ("move", {"ids": ["url", "domain", "qr"], "workspaceId": "team"}),
    ],
)
def test_each_of_many_ids_is_404(
    path: str, body: dict[str, Any], api: APIClient, alices: dict[str, str], strangers: list[APIClient]
) -> None:
    before = all_bodies(api, alices)
    text = json.dumps(body)
    for name, identifier in alices.items():
        text = text.replace(f'"{name}"', f'"{identifier}"')

    for client in strangers:
        own = client.post("/api/workspaces", {"name": "Mine"}).json()["data"]["workspace"]["_id"]
        body = text.replace('"team"', f'"{own}"')
        response = client.generic("POST", f"/api/urls/{path}", body, "application/json")
        assert response.status_code == (404 if path == "bulk-delete" else 200)
        results = response.json()["data"]["results"]
        assert {(result["status"], result["code"]) for result in results} == {(404, "not_found")}
        assert_nothing_of_alice(response, alices)

    assert all_bodies(api, alices) == before


def test_files_neither_change_nor_contain_objects_of_another_tenant(
    alices: dict[str, str], strangers: list[APIClient]
) -> None:
    for client in strangers:
        body = {
            "content": "originalUrl\nhttps://example.com/\n",
            "domainId": alices["domain"],
            "dryRun": False,
        }
        assert client.post("/api/urls/import", body).status_code == 404
        for file_format in ("csv", "jsonl"):
            file = b"".join(client.get(f"/api/urls/export?format={file_format}").streaming_content).decode()
            assert [word for word in (*WORDS, *alices.values()) if word in file] == []
