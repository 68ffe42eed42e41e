"""Filters of the list by columns that the index of the list lacks: creator, password, destination and times."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.rights import Role
from accounts.services import NewAccount
from links.models import Link
from testing.accounts.keys import scoped_client
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.links.calls import put
from testing.refusals import broken_rules
from tests.links.listing.listed import listed, listed_titles

MakeLink = Callable[..., dict[str, Any]]
ORDER = {"sortBy": "title", "sortOrder": "asc"}


@pytest.fixture(params=[100_000, 0], ids=["few", "many"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists read either all links that an index has, or look at each link."""
    monkeypatch.setattr("links.searches.FEW_LINKS", request.param)


def exported_titles(api: APIClient, **query: str) -> list[str]:
    content = b"".join(api.get("/api/urls/export", {"format": "jsonl", **query}).streaming_content)
    return sorted(line.split(b'"title":"')[1].split(b'"')[0].decode() for line in content.splitlines())


@pytest.mark.usefixtures("few")
def test_links_are_found_by_whether_they_have_a_password(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    for title, fields in {
        "open": {"tags": ["a"]},
        "shut": {"password": "open sesame", "tags": ["a"]},
        "shut and off": {"password": "open sesame", "isActive": False},
    }.items():
        make_link(title=title, **fields)
    for text in ("true", "True"):
        assert listed_titles(api, hasPassword=text, **ORDER) == ["shut", "shut and off"]
    assert listed_titles(api, hasPassword="false", **ORDER) == ["open"]
    assert listed_titles(api, hasPassword="true", tags="a") == ["shut"]
    assert listed_titles(api, hasPassword="true", search="off", status="disabled") == ["shut and off"]
    assert listed_titles(api, hasPassword="true", status="active,disabled", **ORDER) == [
        "shut",
        "shut and off",
    ]
    assert exported_titles(api, hasPassword="true") == ["shut", "shut and off"]
    assert listed_titles(strange_api, hasPassword="true") == []
    Link.objects.update(password=None)
    assert listed_titles(api, hasPassword="true") == []
    assert broken_rules(api.get("/api/urls?hasPassword=perhaps")) == [("hasPassword", "invalid")]


@pytest.mark.usefixtures("few")
def test_links_of_a_team_are_found_by_their_creator(
    alice: NewAccount, stranger: NewAccount, api: APIClient
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.EDITOR)
    clients = {account.user: key_client_in(workspace, account.api_key) for account in (alice, stranger)}
    for account, client in clients.items():
        client.post("/api/urls", {"originalUrl": "https://example.com/", "title": str(account.public_id)})
    client = clients[alice.user]
    for account in clients:
        identifier = str(account.public_id)
        assert listed_titles(client, creator=identifier) == [identifier]
        assert listed_titles(client, creator=identifier, sortBy="title") == [identifier]
        assert exported_titles(client, creator=identifier) == [identifier]
        assert listed_titles(api, creator=identifier) == []
    assert listed_titles(client, creator="019a9e3b-11c0-7a52-8f4d-7b2c9d3e5f60") == []
    assert broken_rules(client.get("/api/urls?creator=ada")) == [("creator", "id")]


@pytest.mark.usefixtures("few")
def test_links_of_a_personal_workspace_are_of_its_account_unless_somebody_else_created_them(
    alice: NewAccount, stranger: NewAccount, api: APIClient, make_link: MakeLink
) -> None:
    make_link(title="own")
    moved = make_link(title="moved here")
    Link.objects.filter(public_id=moved["_id"]).update(creator=stranger.user)
    assert listed_titles(api, creator=alice.user.public_id) == ["own"]
    assert listed_titles(api, creator=stranger.user.public_id) == ["moved here"]


def test_links_are_found_by_where_they_lead(
    alice: NewAccount, api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    url, other = "https://example.com/Page", "https://example.com/other"
    make_link(url, title="there")
    make_link(url, title="there, archived", isArchived=True)
    moved = make_link(url, title="moved away")
    put(api, moved, targetUrl=other)
    put(api, make_link(other, title="moved there"), targetUrl=url)
    make_link("https://example.com/page", title="not there")
    make_link("https://example.com/Page?a=1", title="nor there")
    strange_api.post("/api/urls", {"originalUrl": url})
    for text in (url, "HTTPS://EXAMPLE.COM:443/Page"):
        assert listed_titles(api, destination=text, **ORDER) == ["moved there", "there"]
    assert listed_titles(api, destination=url, archived="yes") == ["there, archived"]
    assert listed_titles(api, destination=other) == ["moved away"]
    assert listed_titles(api, destination=url, search="moved") == ["moved there"]
    assert exported_titles(api, destination=other) == ["moved away"]
    only_own = scoped_client(alice.workspace, alice.user, only_own=True)
    assert listed_titles(only_own, destination=url) == []
    for text, code in (("example.com", "invalid_url"), ("ftp://example.com/", "unsupported_scheme")):
        [(field, _)] = broken_rules(api.get("/api/urls", {"destination": text}))
        assert field == "destination", code


def test_links_are_found_that_were_created_after_a_time(api: APIClient, make_link: MakeLink) -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    for number in range(3):
        link = make_link(title=str(number))
        Link.objects.filter(public_id=link["_id"]).update(created_at=start + timedelta(days=number))
    second = (start + timedelta(days=1)).isoformat()
    assert listed_titles(api, createdAfter=second) == ["2"]
    assert listed_titles(api, createdFrom=second) == ["2", "1"]
    assert listed_titles(api, createdAfter=start.isoformat(), createdBefore=second) == []
    assert listed_titles(api, createdAfter=start.isoformat(), createdFrom="2026-03-03") == ["2"]
    assert listed_titles(api, createdAfter="9999-12-31T23:59:59.999999Z") == []
    assert broken_rules(api.get("/api/urls?createdAfter=soon")) == [("createdAfter", "invalid")]


def test_views_keep_these_filters(api: APIClient, alice: NewAccount) -> None:
    filters = {
        "hasPassword": "true",
        "creator": str(alice.user.public_id),
        "destination": "https://example.com/",
        "createdAfter": "2026-03-01T00:00:00Z",
    }
    view = api.post("/api/views", {"name": "New", "filters": filters}).json()["data"]["view"]
    assert view["filters"] == filters


@pytest.mark.usefixtures("few")
def test_the_number_of_queries_does_not_grow(
    alice: NewAccount, api: APIClient, make_link: MakeLink, django_assert_num_queries: Any
) -> None:
    for number in range(3):
        make_link("https://example.com/", title=str(number), password="open sesame")
        query = {
            "hasPassword": "true",
            "creator": str(alice.user.public_id),
            "destination": "https://example.com/",
        }
        with django_assert_num_queries(6):
            assert len(listed(api, **query)["urls"]) == number + 1
