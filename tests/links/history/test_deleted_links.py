"""The list of deleted links that can be brought back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.rights import Role
from accounts.services import NewAccount
from domains.models import Domain
from domains.services import delete_domain
from links.models import ClickCounter, DeletedLink
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.links.calls import address
from tests.links.history.undeletion import delete, pass_days, undelete

MakeLink = Callable[..., dict[str, Any]]
LISTED = (
    "_id",
    "originalUrl",
    "targetUrl",
    "shortCode",
    "customCode",
    "shortUrl",
    "title",
    "tags",
    "createdAt",
)


def listed(api: APIClient, **query: Any) -> dict[str, Any]:
    response = api.get("/api/urls/deleted", query)
    assert response.status_code == 200, response.json()
    data: dict[str, Any] = response.json()["data"]
    return data


def ids(api: APIClient, **query: Any) -> list[str]:
    return [url["_id"] for url in listed(api, **query)["urls"]]


def test_a_deleted_link_is_listed_as_it_was(api: APIClient, make_link: MakeLink, brand: Domain) -> None:
    link = make_link(title="Spring", tags=["news"], customCode="spring", domainId=str(brand.public_id))
    api.put(address(link), {"targetUrl": "https://example.com/later"})
    ClickCounter.objects.update(clicks=7)
    make_link()
    [_, shown] = api.get("/api/urls").json()["data"]["urls"]
    delete(api, link)
    deleted_at = DeletedLink.objects.get().deleted_at
    [entry] = listed(api)["urls"]
    assert {name: entry[name] for name in LISTED} == {name: shown[name] for name in LISTED}
    assert entry["clickCount"] == 7
    assert datetime.fromisoformat(entry["deletedAt"]) == deleted_at
    assert datetime.fromisoformat(entry["restorableUntil"]) == deleted_at + timedelta(days=7)
    assert entry.keys() == {*LISTED, "clickCount", "deletedAt", "restorableUntil"}


def test_a_link_leaves_the_list_when_it_comes_back_or_its_time_is_over(
    api: APIClient, make_link: MakeLink
) -> None:
    links = [make_link() for _ in range(3)]
    delete(api, links[0])
    pass_days(7)
    for link in links[1:]:
        delete(api, link)
    assert ids(api) == [links[2]["_id"], links[1]["_id"]]
    assert undelete(api, links[2]).status_code == 200
    assert ids(api) == [links[1]["_id"]]


def test_pages_have_the_last_deletion_first(api: APIClient, make_link: MakeLink) -> None:
    links = [make_link() for _ in range(5)]
    delete(api, *links[:2])
    for link in links[2:]:
        delete(api, link)
    expected = [link["_id"] for link in reversed(links)]
    assert ids(api) == expected
    page = listed(api, page=2, limit=2)
    assert [url["_id"] for url in page["urls"]] == expected[2:4]
    assert page["pagination"] == {"page": 2, "limit": 2, "total": 5, "pages": 3}
    assert ids(api, page=4, limit=2) == []


def test_a_page_takes_the_same_queries_whatever_its_size(
    api: APIClient, make_link: MakeLink, brand: Domain, django_assert_num_queries: Any
) -> None:
    for number in range(4):
        delete(api, make_link(tags=["news"], domainId=str(brand.public_id)))
        if number in (0, 3):
            with django_assert_num_queries(3):
                assert len(ids(api)) == number + 1


def test_a_link_whose_domain_is_gone_is_shown_on_the_default_domain(
    api: APIClient, make_link: MakeLink, alice: NewAccount, brand: Domain
) -> None:
    link = make_link(domainId=str(brand.public_id))
    delete(api, link)
    delete_domain(owner=alice.workspace, public_id=str(brand.public_id))
    [entry] = listed(api)["urls"]
    back = undelete(api, link).json()["data"]["url"]
    assert (entry["shortUrl"], back["domainId"]) == (back["shortUrl"], "base")


def test_a_stranger_sees_nothing(api: APIClient, strange_api: APIClient, make_link: MakeLink) -> None:
    delete(api, make_link())
    assert ids(strange_api) == []


def test_a_viewer_sees_the_list_and_cannot_restore(alice: NewAccount, stranger: NewAccount) -> None:
    workspace = team(alice)
    editor = key_client_in(workspace, alice.api_key)
    link = editor.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    delete(editor, link)
    add_member(workspace, stranger, Role.VIEWER)
    viewer = key_client_in(workspace, stranger.api_key)
    assert ids(viewer) == [link["_id"]]
    assert undelete(viewer, link).status_code == 403


@pytest.mark.parametrize("query", [{"page": 0}, {"limit": 101}, {"page": "x"}])
def test_bad_pages_are_refused(api: APIClient, query: dict[str, Any]) -> None:
    response = api.get("/api/urls/deleted", query)
    assert response.status_code == 400
    assert [error["field"] for error in response.json()["errors"]] == list(query)
