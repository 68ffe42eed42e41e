"""`total` and `pages` of filtered lists, and clients that walk to the last page."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from links.list_counts import kept_counts
from testing.cases import for_each
from tests.links.listing.listed import listed, naive_order, spread_over_periods, stock
from tests.links.listing.walking import FILTERS


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


@pytest.fixture
def stocked(alice: NewAccount) -> NewAccount:
    stock(alice.user, 41)
    spread_over_periods()
    return alice


@pytest.mark.slow
def test_a_client_that_walks_to_pages_gets_each_of_3000_links_with_one_tag_once(
    api: APIClient, alice: NewAccount
) -> None:
    stock(alice.user, 6_000)
    expected = naive_order(alice.user, "createdAt", "desc", "'even' = ANY (l.tag_keys)")
    codes, paginations = walk(api, tags="even", limit=100)
    assert len(expected) == 3_000
    assert codes == expected
    assert paginations == [{"page": page, "limit": 100, "total": 3_000, "pages": 30} for page in range(1, 31)]


@pytest.mark.slow
@for_each(("query", "condition"), FILTERS)
@for_each("reach", [10, 10_000])
@for_each("sort_by", ["createdAt", "clickCount", "title"])
def test_totals_are_exact_up_to_the_limit_of_counting(
    api: APIClient,
    stocked: NewAccount,
    monkeypatch: pytest.MonkeyPatch,
    *,
    query: dict[str, str],
    condition: str,
    reach: int,
    sort_by: str,
) -> None:
    kept_counts.clear()
    expected = naive_order(stocked.user, sort_by, "desc", condition)
    monkeypatch.setattr("links.searches.REACH", reach)
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 3)
    monkeypatch.setattr("links.list_counts.COUNT_LIMIT", len(expected))
    codes, paginations = walk(api, sortBy=sort_by, limit=4, **query)
    assert codes == expected
    pages = -(-len(expected) // 4)
    assert paginations == [
        {"page": page, "limit": 4, "total": len(expected), "pages": pages} for page in range(1, pages + 1)
    ]


@pytest.mark.slow
@for_each(("query", "condition"), FILTERS)
@for_each("reach", [10, 10_000])
@for_each("limit", [1, 3, 4, 100])
def test_a_client_that_walks_to_pages_gets_every_hit_beyond_the_limit_of_counting(
    api: APIClient,
    stocked: NewAccount,
    monkeypatch: pytest.MonkeyPatch,
    *,
    query: dict[str, str],
    condition: str,
    reach: int,
    limit: int,
) -> None:
    kept_counts.clear()
    expected = naive_order(stocked.user, "createdAt", "desc", condition)
    monkeypatch.setattr("links.searches.REACH", reach)
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 3)
    monkeypatch.setattr("links.list_counts.COUNT_LIMIT", 4)
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
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 3)
    monkeypatch.setattr("links.list_counts.COUNT_LIMIT", 4)
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
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 2)
    monkeypatch.setattr("links.list_counts.COUNT_LIMIT", 3)
    for query, number in (({}, 20), ({"isActive": "true"}, 14), ({"isActive": "false"}, 6)):
        for tags in ("even", "EVEN, even,"):
            pagination = listed(api, tags=tags, limit=5, **query)["pagination"]
            assert pagination == {"page": 1, "limit": 5, "total": number, "pages": -(-number // 5)}


def test_a_tag_above_the_limit_needs_no_counting(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    stock(alice.user, 41)
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 3)
    monkeypatch.setattr("links.list_counts.COUNT_LIMIT", 19)
    for tags in ("even", "even,other"):
        with django_assert_num_queries(3):
            listed(api, tags=tags)
    assert listed(api, tags="even,other", limit=2)["pagination"]["totalIsCapped"] is True
