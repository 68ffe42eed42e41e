"""Walks through the list of links, page by page, by the header ``Link``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from links.models import Link
from links.selectors import LinkRow, link_rows
from testing.accounts.keys import scoped_client
from testing.links.walks import links_of, pages_of, walked
from testing.refusals import broken_rules
from tests.links.listing.listed import naive_order, spread_over_periods, stock
from tests.links.listing.walking import FILTERS

MakeLink = Callable[..., dict[str, Any]]
ORDERS = [(sort_by, order) for sort_by in ("createdAt", "clickCount", "title") for order in ("asc", "desc")]


@pytest.fixture(params=[False, True], ids=["few", "many"])
def many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a search has more hits than its first query finds, so that the list is read in another way."""
    if request.param:
        monkeypatch.setattr("links.searches.FETCH_LIMIT", 3)
        monkeypatch.setattr("links.searches.REACH", 10)
    return bool(request.param)


@pytest.mark.parametrize(("sort_by", "sort_order"), ORDERS)
def test_a_walk_reads_the_list_in_both_directions(
    api: APIClient, alice: NewAccount, sort_by: str, sort_order: str, many: bool
) -> None:
    stock(alice.user, 41)
    spread_over_periods()
    filters = [({}, "true"), ({"isActive": "false"}, "NOT l.is_active"), *FILTERS]
    for query, condition in filters if many else filters[:2]:
        expected = naive_order(alice.user, sort_by, sort_order, condition)
        walk = {"sortBy": sort_by, "sortOrder": sort_order, "limit": 7, **query}
        pages = list(pages_of(api, "/api/urls", walk))
        assert [url["shortCode"] for page in pages for url in page["urls"]] == expected, query
        numbers = [page["pagination"]["page"] for page in pages]
        assert numbers == list(range(1, len(pages) + 1))
        assert {page["pagination"]["total"] for page in pages} == {len(expected)}
        last = {**walk, "page": -(-len(expected) // 7)}
        backward = [
            [url["shortCode"] for url in page["urls"]]
            for page in pages_of(api, "/api/urls", last, relation="prev")
        ]
        assert [code for codes in reversed(backward) for code in codes] == expected


@pytest.mark.parametrize(("sort_by", "sort_order"), ORDERS)
def test_a_walk_misses_and_repeats_nothing_while_links_come_and_go(
    api: APIClient, alice: NewAccount, make_link: MakeLink, sort_by: str, sort_order: str
) -> None:
    stock(alice.user, 30)
    doomed = list(Link.objects.filter(pk__gt=0).order_by("title", "pk")[::3])
    lasting = set(Link.objects.values_list("short_code", flat=True)) - {link.short_code for link in doomed}
    titles = iter(["", "zz", "A", "b", None, "a"] * 10)

    def others() -> None:
        for _ in range(2):
            make_link(title=next(titles))
        if doomed:
            assert api.delete(f"/api/urls/{doomed.pop().public_id}").status_code == 200

    query = {"sortBy": sort_by, "sortOrder": sort_order, "limit": 4}
    codes = [url["shortCode"] for url in walked(api, "/api/urls", "urls", query, between=others)]
    assert len(codes) == len(set(codes))
    assert lasting <= set(codes)


def test_a_link_that_comes_between_the_count_and_the_rows_hides_none(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        make_link(title=f"old {number}")

    def rows(*arguments: Any, **options: Any) -> list[LinkRow]:
        make_link(title="new")
        return link_rows(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr("links.lists.link_rows", rows)
        first = api.get("/api/urls", {"limit": 3})
    assert first.json()["data"]["pagination"] == {"page": 1, "limit": 3, "total": 3, "pages": 1}
    pages = [first.json(), api.get(links_of(first)["next"]).json()]
    titles = [[url["title"] for url in page["data"]["urls"]] for page in pages]
    assert titles == [["new", "old 2", "old 1"], ["old 0"]]


def test_a_walk_of_a_limited_key_reads_its_own_links(alice: NewAccount, api: APIClient) -> None:
    client = scoped_client(alice.workspace, alice.user, only_own=True)
    for number in range(7):
        for each in (client, api):
            each.post("/api/urls", {"originalUrl": "https://example.com/", "title": f"{number % 3}"})
    for sort_by in ("createdAt", "clickCount", "title"):
        query = {"sortBy": sort_by, "limit": 2}
        codes = [url["shortCode"] for url in walked(client, "/api/urls", "urls", query)]
        assert len(set(codes)) == len(codes) == 7


def test_links_keep_the_filters_and_only_they_open_a_cursor(
    api: APIClient, strange_api: APIClient, alice: NewAccount
) -> None:
    stock(alice.user, 9)
    first = api.get("/api/urls", {"tags": "even", "limit": 2, "page": 1})
    address = links_of(first)["next"]
    assert address.startswith("http://sho.rt/api/urls?tags=even&limit=2&cursor=")
    assert "prev" not in links_of(first)
    cursor = address.partition("cursor=")[2]
    # The size of a page may change.
    assert (
        len(api.get("/api/urls", {"tags": "even", "limit": 1, "cursor": cursor}).json()["data"]["urls"]) == 1
    )
    for client, query in (
        (api, {"tags": "odd"}),
        (api, {"tags": "even", "sortBy": "title"}),
        (strange_api, {"tags": "even"}),
    ):
        refused = client.get("/api/urls", {**query, "cursor": cursor})
        assert broken_rules(refused) == [("cursor", "invalid")]
    for text in ("", "x", cursor[:-4], cursor + "AAAA", "A" * len(cursor), "\0", "ä"):
        assert broken_rules(api.get("/api/urls", {"tags": "even", "cursor": text}))[0][0] == "cursor", text
    assert broken_rules(api.get("/api/domains", {"cursor": cursor})) == [("cursor", "invalid")]


def test_the_end_of_a_walk_that_has_gone_is_an_empty_page(api: APIClient, alice: NewAccount) -> None:
    stock(alice.user, 4)
    response = api.get("/api/urls", {"limit": 2})
    Link.objects.all().delete()
    page = api.get(links_of(response)["next"])
    assert (page.json()["data"]["urls"], "Link" in page) == ([], False)


def test_a_page_of_a_walk_takes_as_many_queries_as_a_numbered_one(
    api: APIClient, alice: NewAccount, django_assert_num_queries: Any
) -> None:
    stock(alice.user, 9)
    with django_assert_num_queries(3):
        response = api.get("/api/urls", {"limit": 2})
    with django_assert_num_queries(3):
        api.get(links_of(response)["next"])
