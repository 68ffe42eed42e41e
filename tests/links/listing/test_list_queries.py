"""The queries and the totals of the list of links."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from tests.links.listing.listed import listed, stock, total

MakeLink = Callable[..., dict[str, Any]]


@pytest.mark.parametrize("items", [1, 3])
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"sortBy": "clickCount"},
        {"sortBy": "title", "sortOrder": "asc"},
        {"search": "example"},
        {"tags": "news", "sortBy": "clickCount"},
        {"isActive": "true"},
        {"status": "active"},
        {"status": "expired,active", "sortBy": "title"},
        {"search": "example", "tags": "news", "isActive": "true", "sortBy": "clickCount"},
    ],
    ids=str,
)
def test_a_page_takes_three_queries_whatever_its_size(
    api: APIClient,
    make_link: MakeLink,
    django_assert_num_queries: Any,
    query: dict[str, str],
    items: int,
) -> None:
    for _ in range(items):
        make_link(tags=["news"])
    # A status takes one more, for the banned links.
    with django_assert_num_queries(4 if "status" in query else 3):
        assert len(listed(api, **query)["urls"]) == items


def test_items_with_every_field_take_no_further_query(
    api: APIClient, make_link: MakeLink, brand: Domain, django_assert_num_queries: Any
) -> None:
    for number in range(3):
        make_link(
            customCode=f"code{number}",
            domainId=str(brand.public_id),
            tags=["a", "b"],
            password="secret",
            expiresAt="2030-06-01",
            redirectType=301,
        )
    with django_assert_num_queries(3):
        items = listed(api)["urls"]
    assert [item["customCode"] for item in items] == ["code2", "code1", "code0"]
    assert {item["domainId"] for item in items} == {str(brand.public_id)}


def test_totals_are_right_after_every_change(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    strange_api.post("/api/urls", {"originalUrl": "https://example.com/"})

    def totals() -> tuple[int, int, int]:
        return total(api), total(api, isActive="true"), total(api, isActive="false")

    links = [make_link() for _ in range(4)]
    assert totals() == (4, 4, 0)
    for _ in range(2):
        api.put(f"/api/urls/{links[0]['_id']}", {"isActive": False})
        assert totals() == (4, 3, 1)
    api.put(f"/api/urls/{links[1]['_id']}", {"isActive": False})
    assert totals() == (4, 2, 2)
    api.put(f"/api/urls/{links[0]['_id']}", {"isActive": True})
    assert totals() == (4, 3, 1)
    api.delete(f"/api/urls/{links[1]['_id']}")
    assert totals() == (3, 3, 0)
    api.delete(f"/api/urls/{links[2]['_id']}")
    assert totals() == (2, 2, 0)
    strange_api.delete(f"/api/urls/{links[3]['_id']}")
    assert totals() == (2, 2, 0)
    assert api.post("/api/urls", {"originalUrl": "nonsense"}).status_code == 400
    assert totals() == (2, 2, 0)


def test_the_total_of_an_unfiltered_list_has_no_limit(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(alice.user, 9)
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 2)
    monkeypatch.setattr("links.list_counts.COUNT_LIMIT", 2)
    for query, count in (({}, 9), ({"isActive": "true"}, 6), ({"isActive": "false"}, 3)):
        assert listed(api, limit=1, **query)["pagination"] == {
            "page": 1,
            "limit": 1,
            "total": count,
            "pages": count,
        }


def test_dates_are_written_in_utc(api: APIClient, alice: NewAccount) -> None:
    stock(alice.user, 3)
    for url in listed(api)["urls"]:
        assert re.fullmatch(r"2026-01-0\dT00:00:00Z", url["createdAt"])


def test_a_search_with_many_hits_takes_one_more_query_the_first_time(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    stock(alice.user, 41)
    monkeypatch.setattr("links.searches.REACH", 2)
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 3)
    with django_assert_num_queries(4):
        listed(api, search="stock")
    for sort_by in ("createdAt", "clickCount", "title"):
        for page, items in ((1, 4), (3, 4), (11, 1)):
            with django_assert_num_queries(3):
                urls = listed(api, search="stock", sortBy=sort_by, limit=4, page=page)["urls"]
            assert len(urls) == items


def test_the_searchable_copy_is_deleted_with_its_link(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    def searchable() -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT split_part(content, chr(10), 1) FROM links_searchable ORDER BY link_id")
            return [title for (title,) in cursor.fetchall()]

    links = [make_link(title=title) for title in ("One", "Two", "Three")]
    assert searchable() == ["one", "two", "three"]
    api.delete(f"/api/urls/{links[0]['_id']}")
    assert searchable() == ["two", "three"]
    alice.user.delete()
    assert searchable() == []
