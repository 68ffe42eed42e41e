"""Reading the history of a link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from accounts.models import Change
from accounts.services import NewAccount
from domains.models import Domain
from testing.accounts.accounts import bearer_client
from testing.links.calls import address, put
from tests.links.history.changes import changes_of, page_of, restore

MakeLink = Callable[..., dict[str, Any]]


def test_a_change_says_who_made_it_how_and_in_which_request(
    alice: NewAccount, api: APIClient, bearer: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    requests = [put(client, link, title=client_name)["X-Request-ID"] for client, client_name in
                ((api, "key"), (bearer, "token"))]  # fmt: skip
    changes = changes_of(api, link)
    actor = {
        "_id": str(alice.user.public_id),
        "firstName": "Ada",
        "lastName": "Lovelace",
        "email": "alice@example.com",
    }
    assert [change["actor"] for change in changes] == [actor, actor]
    assert [(change["via"], change["requestId"]) for change in changes] == [
        ("token", requests[1]),
        ("api_key", requests[0]),
    ]


def test_pages_are_newest_first_and_complete(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    for number in range(5):
        put(api, link, title=str(number))
    titles, cursor = [], None
    while True:
        page = page_of(api, link, limit=2, **({} if cursor is None else {"cursor": cursor}))
        titles += [change["after"]["title"] for change in page["changes"]]
        cursor = page["pagination"]["nextCursor"]
        if cursor is None:
            break
        # Later changes do not move the next page.
        Change.objects.create(
            owner_id=Change.objects.latest("pk").owner_id,
            object_id=uuid4(),
            via="service",
            request_id="",
            action="link.updated",
            before={},
            after={},
        )
    assert titles == ["4", "3", "2", "1", "0"]


@pytest.mark.parametrize("changes", [1, 20])
def test_a_page_takes_one_query_besides_authentication(
    changes: int, api: APIClient, make_link: MakeLink, django_assert_num_queries: Any
) -> None:
    link = make_link()
    for number in range(changes):
        put(api, link, title=str(number))
    page_of(api, link)
    with django_assert_num_queries(2):
        assert len(page_of(api, link)["changes"]) == changes


@pytest.mark.parametrize("cursor", ["", "x", "A" * 48, "é" * 48])
def test_a_cursor_of_nobody_is_400(cursor: str, api: APIClient, make_link: MakeLink) -> None:
    response = api.get(f"{address(make_link())}/history", {"cursor": cursor})
    assert (response.status_code, response.json()["code"]) == (400, "validation_error")


def test_a_strangers_cursor_is_400(
    api: APIClient, strange_api: APIClient, stranger: NewAccount, make_link: MakeLink
) -> None:
    theirs = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    for title in ("a", "b"):
        put(strange_api, theirs, title=title)
    cursor = page_of(strange_api, theirs, limit=1)["pagination"]["nextCursor"]
    link = make_link()
    assert api.get(f"{address(link)}/history", {"cursor": cursor}).status_code == 400


def test_a_stranger_neither_reads_nor_restores(
    api: APIClient, stranger: NewAccount, strange_api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(title="a")
    put(api, link, title="b")
    [change] = changes_of(api, link)
    own = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    for client in (strange_api, bearer_client(stranger.user)):
        assert client.get(f"{address(link)}/history").status_code == 404
        assert restore(client, link, change).status_code == 404
        # Another link's change is unknown, too.
        assert restore(client, own, change).status_code == 404
    assert len(changes_of(api, link)) == 1


def test_the_id_of_a_domain_is_no_id_of_a_link(api: APIClient, brand: Domain) -> None:
    assert api.get(f"/api/urls/{brand.public_id}/history").status_code == 404
    assert api.get("/api/urls/unknown/history").status_code == 404
