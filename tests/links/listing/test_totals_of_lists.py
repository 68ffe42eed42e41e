"""`total` and `pages` of filtered lists, and clients that walk to the last page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.host import state
from testing.threads import at_once
from tests.links.listing.test_list import listed, naive_order, stock, total
from tests.links.many import imported

MakeLink = Callable[..., dict[str, Any]]
FILTERS = [
    ({"tags": "even"}, "'even' = ANY (l.tag_keys)"),
    ({"tags": "EVEN,other"}, "'even' = ANY (l.tag_keys)"),
    ({"tags": "even", "isActive": "true"}, "'even' = ANY (l.tag_keys) AND l.is_active"),
    ({"tags": "even", "isActive": "false"}, "'even' = ANY (l.tag_keys) AND NOT l.is_active"),
    ({"search": "stock"}, "true"),
    ({"search": "stock1"}, "l.short_code LIKE 'stock1%%'"),
    ({"search": "1"}, "l.short_code LIKE '%%1%%'"),
    ({"search": "k1"}, "l.short_code LIKE 'stock1%%'"),
    ({"search": "stock", "tags": "even"}, "'even' = ANY (l.tag_keys)"),
    ({"search": "stock", "isActive": "false"}, "NOT l.is_active"),
    (
        {"createdFrom": "2026-01-03", "createdBefore": "2026-04-01"},
        "l.created_at >= '2026-01-03Z' AND l.created_at < '2026-04-01Z'",
    ),
    (
        {"tags": "even", "createdFrom": "2026-03-01"},
        "'even' = ANY (l.tag_keys) AND l.created_at >= '2026-03-01Z'",
    ),
]


def walk(api: APIClient, **query: object) -> tuple[list[str], list[dict[str, Any]]]:
    """Read pages until `pages` of the last response. Return all short codes, and each page's `pagination`."""
    codes, paginations = [], []
    page = pages = 1
    while page <= pages:
        data = listed(api, page=page, **query)
        codes += [url["shortCode"] for url in data["urls"]]
        paginations.append(data["pagination"])
        page, pages = page + 1, data["pagination"]["pages"]
    return codes, paginations


def spread_over_periods() -> None:
    """Dates over several months, out of insertion order, with empty months in between."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_link SET created_at = created_at + (id * 5 % 3) * interval '70 days'")


def test_a_client_that_walks_to_pages_gets_each_of_3000_links_with_one_tag_once(
    api: APIClient, alice: NewAccount
) -> None:
    stock(alice.user, 6_000)
    expected = naive_order(alice.user, "createdAt", "desc", "'even' = ANY (l.tag_keys)")
    codes, paginations = walk(api, tags="even", limit=100)
    assert len(expected) == 3_000
    assert codes == expected
    assert paginations == [{"page": page, "limit": 100, "total": 3_000, "pages": 30} for page in range(1, 31)]


@pytest.mark.parametrize(("query", "condition"), FILTERS, ids=str)
@pytest.mark.parametrize("reach", [10, 10_000])
@pytest.mark.parametrize("sort_by", ["createdAt", "clickCount", "title"])
def test_totals_are_exact_up_to_the_limit_of_counting(
    api: APIClient,
    alice: NewAccount,
    monkeypatch: pytest.MonkeyPatch,
    *,
    query: dict[str, str],
    condition: str,
    reach: int,
    sort_by: str,
) -> None:
    stock(alice.user, 41)
    spread_over_periods()
    expected = naive_order(alice.user, sort_by, "desc", condition)
    monkeypatch.setattr("links.listing.searches.REACH", reach)
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", 3)
    monkeypatch.setattr("links.listing.counts.COUNT_LIMIT", len(expected))
    codes, paginations = walk(api, sortBy=sort_by, limit=4, **query)
    assert codes == expected
    pages = -(-len(expected) // 4)
    assert paginations == [
        {"page": page, "limit": 4, "total": len(expected), "pages": pages} for page in range(1, pages + 1)
    ]


@pytest.mark.parametrize(("query", "condition"), FILTERS, ids=str)
@pytest.mark.parametrize("reach", [10, 10_000])
@pytest.mark.parametrize("limit", [1, 3, 4, 100])
def test_a_client_that_walks_to_pages_gets_every_hit_beyond_the_limit_of_counting(
    api: APIClient,
    alice: NewAccount,
    monkeypatch: pytest.MonkeyPatch,
    *,
    query: dict[str, str],
    condition: str,
    reach: int,
    limit: int,
) -> None:
    stock(alice.user, 41)
    spread_over_periods()
    expected = naive_order(alice.user, "createdAt", "desc", condition)
    monkeypatch.setattr("links.listing.searches.REACH", reach)
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", 3)
    monkeypatch.setattr("links.listing.counts.COUNT_LIMIT", 4)
    codes, paginations = walk(api, limit=limit, **query)
    assert codes == expected
    for pagination in paginations:
        assert pagination["total"] <= len(expected)
        if pagination["page"] * limit <= len(expected) and pagination.get("totalIsCapped"):
            assert pagination["pages"] > pagination["page"]


def test_pages_beyond_the_limit_of_counting(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(alice.user, 9)
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", 3)
    monkeypatch.setattr("links.listing.counts.COUNT_LIMIT", 4)
    capped = {"totalIsCapped": True}
    assert [listed(api, search="stock", limit=2, page=page)["pagination"] for page in range(1, 7)] == [
        {"page": 1, "limit": 2, "total": 4, "pages": 2} | capped,
        {"page": 2, "limit": 2, "total": 4, "pages": 3} | capped,
        {"page": 3, "limit": 2, "total": 6, "pages": 4} | capped,
        {"page": 4, "limit": 2, "total": 8, "pages": 5} | capped,
        # The last page shows the total.
        {"page": 5, "limit": 2, "total": 9, "pages": 5},
        {"page": 6, "limit": 2, "total": 4, "pages": 2} | capped,
    ]


def test_totals_of_one_tag_have_no_limit(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(alice.user, 41)
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", 2)
    monkeypatch.setattr("links.listing.counts.COUNT_LIMIT", 3)
    for query, number in (({}, 20), ({"isActive": "true"}, 14), ({"isActive": "false"}, 6)):
        for tags in ("even", "EVEN, even,"):
            pagination = listed(api, tags=tags, limit=5, **query)["pagination"]
            assert pagination == {"page": 1, "limit": 5, "total": number, "pages": -(-number // 5)}


def test_a_tag_above_the_limit_needs_no_counting(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    stock(alice.user, 41)
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", 3)
    monkeypatch.setattr("links.listing.counts.COUNT_LIMIT", 19)
    for tags in ("even", "even,other"):
        with django_assert_num_queries(3):
            listed(api, tags=tags)
    assert listed(api, tags="even,other", limit=2)["pagination"]["totalIsCapped"] is True


def test_a_count_is_kept_until_a_link_of_its_owner_changes(
    api: APIClient,
    strange_api: APIClient,
    alice: NewAccount,
    make_link: MakeLink,
    *,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Any,
) -> None:
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", 2)
    links = [make_link(title="sale") for _ in range(5)]

    def counted(number: int, queries: int) -> None:
        with django_assert_num_queries(queries):
            assert total(api, search="sale", limit=1) == number

    counted(5, 4)
    counted(5, 3)
    assert strange_api.post("/api/urls", {"originalUrl": "https://example.com/sale"}).status_code == 201
    api.put(f"/api/urls/{links[0]['_id']}", {"description": "not searched"})
    counted(5, 3)
    links.append(make_link(title="sale"))
    make_link(title="other")
    counted(6, 4)
    api.put(f"/api/urls/{links[0]['_id']}", {"title": "other"})
    counted(5, 4)
    api.put(f"/api/urls/{links[1]['_id']}", {"isActive": False})
    counted(5, 4)
    api.delete(f"/api/urls/{links[2]['_id']}")
    counted(4, 4)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_link SET title = 'sale' WHERE owner_id = %s", [alice.user.pk])
    counted(6, 4)
    counted(6, 3)


@pytest.fixture
def separate_state(settings: Settings, tmp_path: Path) -> Iterator[None]:
    settings.VERSIONS_FILE = tmp_path / "versions"
    state.mapped.cache_clear()
    yield
    state.mapped.cache_clear()


@pytest.mark.usefixtures("separate_state")
@pytest.mark.parametrize("other", [("system", "2"), ("restored", "1")])
def test_a_count_is_not_used_on_another_server_or_timeline(
    api: APIClient,
    alice: NewAccount,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Any,
    *,
    other: tuple[str, str],
) -> None:
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", 2)
    stock(alice.user, 5)
    for server, queries in (
        (("system", "1"), 4),
        (("system", "1"), 3),
        (other, 4),
        (other, 3),
    ):
        state.note_server(*server)
        with django_assert_num_queries(queries):
            assert total(api, search="stock", limit=1) == 5


def test_only_new_links_are_counted_after_insertions(
    api: APIClient,
    alice: NewAccount,
    make_link: MakeLink,
    *,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Any,
) -> None:
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", 2)
    stock(alice.user, 41)

    def counted(number: int, *aliases: str) -> None:
        """``aliases`` are those of the queries that count."""
        with django_assert_num_queries(3 + len(aliases)) as captured:
            assert total(api, search="stock", limit=1) == number
        for alias, query in zip(aliases, captured.captured_queries[2:], strict=False):
            assert f") {alias}" in query["sql"]

    counted(41, "newest")
    make_link(title="stock")
    make_link(title="other")
    for _ in range(2):
        counted(42, "added")
    # Its date is older than that of the newest link.
    imported(api, "originalUrl,title,createdAt\nhttps://example.com/,stock,2020-01-01T00:00:00Z\n")
    counted(43, "added", "newest")
    make_link(title="stock")
    counted(44, "added")
    monkeypatch.setattr("links.listing.searches.REACH", 1)
    make_link(title="stock")
    counted(45, "added", "newest")
    counted(45)


def test_a_count_above_the_limit_stays_there_after_insertions(
    api: APIClient,
    alice: NewAccount,
    make_link: MakeLink,
    *,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Any,
) -> None:
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", 2)
    monkeypatch.setattr("links.listing.counts.COUNT_LIMIT", 10)
    stock(alice.user, 11)
    for queries in (4, 3):
        with django_assert_num_queries(queries):
            assert listed(api, search="stock", limit=1)["pagination"]["totalIsCapped"] is True
        make_link(title="stock")
    api.delete(f"/api/urls/{listed(api)['urls'][0]['_id']}")
    with django_assert_num_queries(4):
        assert listed(api, search="stock", limit=1)["pagination"]["totalIsCapped"] is True


@pytest.mark.django_db(transaction=True)
def test_counts_are_exact_after_concurrent_changes(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", 2)
    stock(alice.user, 20)
    ids = [url["_id"] for url in listed(api)["urls"]]

    def work(number: int) -> None:
        for link in ids[number * 5 : number * 5 + 5]:
            api.post("/api/urls", {"originalUrl": "https://example.com/", "title": "stock"})
            total(api, search="stock")
            if number % 2:
                api.delete(f"/api/urls/{link}")
            else:
                api.put(f"/api/urls/{link}", {"isActive": False})
            total(api, search="stock", isActive="true")

    for _ in range(3):
        at_once([partial(work, number) for number in range(4)])
        for query, condition in (
            ({"search": "stock"}, "true"),
            ({"search": "stock", "isActive": "true"}, "l.is_active"),
        ):
            assert total(api, **query) == len(naive_order(alice.user, "createdAt", "asc", condition))
        ids = [url["_id"] for url in listed(api, isActive="true")["urls"]]


def test_counts_of_different_searches_are_kept_apart(
    api: APIClient, alice: NewAccount, strange_api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(alice.user, 41)
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", 2)
    for _ in range(2):
        for query, condition in FILTERS:
            assert total(api, limit=1, **query) == len(naive_order(alice.user, "createdAt", "asc", condition))
            assert total(strange_api, limit=1, **query) == 0
