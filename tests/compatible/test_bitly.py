"""Bitly's API: requests in its words have the effects of the API, and responses have its form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.rights import Scope
from accounts.services import NewAccount
from testing.accounts.keys import scoped_key
from testing.cases import for_each

pytestmark = pytest.mark.urls("testing.compatible")

MakeLink = Callable[..., dict[str, Any]]
LONG = {"long_url": "https://example.com/spring"}


@pytest.fixture(autouse=True)
def on(settings: Settings) -> None:
    settings.COMPATIBLE_APIS = frozenset({"bitly"})


@pytest.fixture
def client(alice: NewAccount) -> APIClient:
    return APIClient(headers={"host": "sho.rt", "authorization": f"Bearer {alice.api_key}"})


def test_a_url_is_shortened_and_expanded(client: APIClient, alice: NewAccount) -> None:
    response = client.post("/v4/shorten", {**LONG, "domain": "bit.ly", "group_guid": "Ba1bc23dE4F"})
    assert response.status_code == 201, response.content
    link = response.json()
    workspace = Workspace.objects.get(account=alice.user)
    code = link["id"].removeprefix("sho.rt/")
    assert link == {
        "created_at": link["created_at"],
        "id": f"sho.rt/{code}",
        "link": f"http://sho.rt/{code}",
        "custom_bitlinks": [],
        "long_url": LONG["long_url"],
        "title": None,
        "archived": False,
        "tags": [],
        "deeplinks": [],
        "references": {"group": f"http://sho.rt/v4/groups/{workspace.public_id}"},
    }
    assert link["created_at"].endswith("+0000")
    again = client.post("/v4/shorten", LONG)
    assert (again.status_code, again.json()) == (200, link)
    for bitlink in (link["id"], f"bit.ly/{code}", link["link"]):
        expanded = client.post("/v4/expand", {"bitlink_id": bitlink})
        assert expanded.json() == {name: link[name] for name in ("created_at", "id", "link", "long_url")}
    assert client.get(f"/v4/bitlinks/{link['id']}").json() == link
    [group] = client.get("/v4/groups").json()["groups"]
    assert (group["guid"], group["is_active"]) == (str(workspace.public_id), True)


def test_a_bitlink_has_title_and_tags(client: APIClient, api: APIClient) -> None:
    response = client.post("/v4/bitlinks", {**LONG, "title": "Spring", "tags": ["sale"], "deeplinks": []})
    assert (response.status_code, response.json()["title"], response.json()["tags"]) == (
        201,
        "Spring",
        ["sale"],
    )
    [url] = api.get("/api/urls").json()["data"]["urls"]
    assert (url["title"], url["tags"]) == ("Spring", ["sale"])


@for_each(
    ("sent", "status", "message"),
    [
        ({}, 400, "INVALID_ARG_LONG_URL"),
        ({"long_url": "ftp://example.com"}, 400, "INVALID_ARG_LONG_URL"),
        ({"long_url": 5}, 400, "INVALID_ARG_LONG_URL"),
        ({**LONG, "tags": 5}, 400, "INVALID_ARG_TAGS"),
        ({**LONG, "domain": "other.example.com"}, 404, "NOT_FOUND"),
    ],
)
def test_errors_have_their_form(client: APIClient, sent: dict[str, Any], status: int, message: str) -> None:
    response = client.post("/v4/bitlinks", sent)
    body = response.json()
    assert (response.status_code, body["message"], body["resource"]) == (status, message, "bitlinks")
    assert body["description"]


@for_each(
    ("value",),
    [(None,), (True,), (-1,), (10**30,), ("",), ("x" * 5_000,), ("%00/..",), ([],), ([[]],), ({},)],
)
def test_no_value_is_an_error_of_the_service(client: APIClient, settings: Settings, value: Any) -> None:
    settings.COMPATIBLE_APIS = frozenset({"bitly", "shlink"})
    sent = {"long_url": LONG["long_url"], "title": value, "tags": value, "domain": value, "bitlink_id": value}
    theirs = {"longUrl": LONG["long_url"], "customSlug": value, "maxVisits": value, "domain": value}
    query = {"page": value, "itemsPerPage": value, "orderBy": value, "domain": value, "tags[]": [value]}
    for response in (
        client.post("/v4/bitlinks", sent),
        client.post("/v4/shorten", {"long_url": value}),
        client.post("/v4/expand", sent),
        client.get(f"/v4/bitlinks/{value}"),
        client.post("/rest/v3/short-urls", theirs),
        client.post("/rest/v3/short-urls", {**theirs, "domain": None}),
        client.get("/rest/v3/short-urls", {name: str(value) for name, value in query.items()}),
        client.get("/rest/v3/short-urls/x", {"domain": str(value)}),
    ):
        assert response.status_code < 500


def test_links_of_others_are_unknown(strange_api: APIClient, make_link: MakeLink) -> None:
    make_link(customCode="spring")
    for response in (
        strange_api.post("/v4/expand", {"bitlink_id": "sho.rt/spring"}),
        strange_api.get("/v4/bitlinks/sho.rt/spring"),
        strange_api.post("/v4/expand", {}),
    ):
        assert (response.status_code, response.json()["message"]) == (404, "NOT_FOUND")


def test_keys_and_their_scopes_decide(alice: NewAccount, anonymous: APIClient) -> None:
    key = scoped_key(Workspace.objects.get(account=alice.user), alice.user, Scope.URLS_WRITE).text
    for authorization in (f"Bearer {key}", key):
        created = anonymous.post("/v4/shorten", LONG, headers={"authorization": authorization})
        assert created.status_code == 201
        read = anonymous.post(
            "/v4/expand", {"bitlink_id": created.json()["id"]}, headers={"authorization": authorization}
        )
        assert (read.status_code, read.json()["message"]) == (403, "FORBIDDEN")
    for headers in ({}, {"authorization": "Bearer wrong"}):
        refused = anonymous.post("/v4/shorten", LONG, headers=headers)
        assert (refused.status_code, refused.json()["message"]) == (403, "FORBIDDEN")


def test_another_workspace_is_unknown(client: APIClient, stranger: NewAccount) -> None:
    other = str(Workspace.objects.get(account=stranger.user).public_id)
    for response in (
        client.get("/v4/groups", headers={"x-workspace": other}),
        client.post("/v4/shorten", {**LONG, "domain": "go.example.com"}, headers={"x-workspace": other}),
    ):
        assert (response.status_code, response.json()["message"]) == (404, "NOT_FOUND")
