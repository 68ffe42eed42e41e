"""The order of the list of links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from testing.analytics.clicks import drain
from testing.refusals import broken_rules
from tests.links.listing.listed import listed, listed_titles, naive_order, stock

MakeLink = Callable[..., dict[str, Any]]


@pytest.mark.parametrize("sort_order", ["asc", "desc"])
@pytest.mark.parametrize("sort_by", ["createdAt", "clickCount", "title"])
def test_all_pages_together_are_the_list_sorted_in_python(
    api: APIClient, alice: NewAccount, sort_by: str, sort_order: str
) -> None:
    stock(alice.user, 41)
    filters = [
        ({}, "true"),
        ({"isActive": "true"}, "l.is_active"),
        ({"isActive": "false"}, "NOT l.is_active"),
        ({"search": "STOCK1"}, "l.short_code LIKE 'stock1%%'"),
        ({"tags": "even", "isActive": "true"}, "l.is_active AND 'even' = ANY (l.tag_keys)"),
        ({"createdFrom": "2026-01-02"}, "l.created_at >= '2026-01-02Z'"),
        (
            {"createdFrom": "2026-01-02", "createdBefore": "2026-01-04T00:00:00Z", "isActive": "true"},
            "l.is_active AND l.created_at >= '2026-01-02Z' AND l.created_at < '2026-01-04Z'",
        ),
        (
            {"createdBefore": "2026-01-04T01:00:00+01:00", "tags": "even"},
            "l.created_at < '2026-01-04Z' AND 'even' = ANY (l.tag_keys)",
        ),
        (
            {"createdFrom": "2026-01-03", "search": "stock1"},
            "l.created_at >= '2026-01-03Z' AND l.short_code LIKE 'stock1%%'",
        ),
        ({"createdFrom": "2026-01-04", "createdBefore": "2026-01-02"}, "false"),
    ]
    for query, condition in filters:
        expected = naive_order(alice.user, sort_by, sort_order, condition)
        for limit in (1, 7, 41) if not query else (4,):
            walked = []
            for page in range(1, len(expected) // limit + 2):
                data = listed(api, sortBy=sort_by, sortOrder=sort_order, limit=limit, page=page, **query)
                assert data["pagination"]["total"] == len(expected)
                walked += [url["shortCode"] for url in data["urls"]]
            assert walked == expected, (query, limit)


def test_every_sort_key_works_in_both_orders(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    for title, clicks in (("banana", 1), ("apple", 2), ("cherry", 0)):
        code = make_link(title=title)["shortCode"]
        for _ in range(clicks):
            visitor.get(f"/{code}")
    drain()
    orders = {
        "createdAt": ["banana", "apple", "cherry"],
        "clickCount": ["cherry", "banana", "apple"],
        "title": ["apple", "banana", "cherry"],
    }
    for sort_by, ascending in orders.items():
        assert listed_titles(api, sortBy=sort_by, sortOrder="asc") == ascending
        assert listed_titles(api, sortBy=sort_by, sortOrder="desc") == ascending[::-1]
        assert listed_titles(api, sortBy=sort_by) == ascending[::-1]
    assert listed_titles(api, sortOrder="asc") == orders["createdAt"]
    assert [url["clickCount"] for url in listed(api, sortBy="clickCount")["urls"]] == [2, 1, 0]


@pytest.mark.parametrize("name", ["sortBy", "sortOrder"])
def test_an_unknown_sort_key_is_rejected(api: APIClient, name: str) -> None:
    for text in (
        "", " ", "createdat", "CREATEDAT", "created_at", "updatedAt", "_id", "id", "owner_id", "password",
        "-createdAt", "ASC", "Desc", "ascending", "asc ", "1", "null", "title,clickCount", "title;--", "title) --",
        "asc, (SELECT 1)", "clickCount DESC NULLS LAST", "owner__password", "?", "'", '"', "\\", "%", "\0",
        "pg_sleep(5)", "{'$gt': ''}", "x" * 5000,
    ):  # fmt: skip
        assert broken_rules(api.get("/api/urls", {name: text})) == [(name, "invalid_choice")], text


@pytest.mark.slow
@pytest.mark.parametrize("reach", [1, 10, 10_000])
@pytest.mark.parametrize("fetch_limit", [3, 25, 1_000])
def test_internal_thresholds_do_not_change_the_list(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch, reach: int, fetch_limit: int
) -> None:
    stock(alice.user, 41)
    with connection.cursor() as cursor:
        # Dates over several months, out of insertion order, with empty months in between.
        cursor.execute("UPDATE links_link SET created_at = created_at + (id * 5 % 3) * interval '70 days'")
    monkeypatch.setattr("links.searches.REACH", reach)
    monkeypatch.setattr("links.searches.FETCH_LIMIT", fetch_limit)
    filters = [
        ({"search": "STOCK"}, "true"),
        ({"search": "stock1"}, "l.short_code LIKE 'stock1%%'"),
        ({"search": "ock2", "isActive": "false"}, "l.short_code LIKE 'stock2%%' AND NOT l.is_active"),
        ({"search": "1"}, "l.short_code LIKE '%%1%%'"),
        ({"search": "k1"}, "l.short_code LIKE 'stock1%%'"),
        ({"search": "/2"}, "l.short_code LIKE 'stock2%%'"),
        ({"tags": "even"}, "'even' = ANY (l.tag_keys)"),
        ({"tags": "even,odd", "isActive": "false"}, "'even' = ANY (l.tag_keys) AND NOT l.is_active"),
        ({"search": "stock", "tags": "even"}, "'even' = ANY (l.tag_keys)"),
        ({"search": "sho.rt/stock7"}, "l.short_code = 'stock7'"),
        ({"search": "stick"}, "false"),
        ({"createdFrom": "2026-01-02"}, "l.created_at >= '2026-01-02Z'"),
        (
            {"createdFrom": "2026-01-04", "createdBefore": "2026-05-01", "isActive": "true"},
            "l.is_active AND l.created_at >= '2026-01-04Z' AND l.created_at < '2026-05-01Z'",
        ),
        ({"search": "stock", "createdBefore": "2026-03-13"}, "l.created_at < '2026-03-13Z'"),
        (
            {"tags": "even", "createdFrom": "2026-02-01"},
            "l.created_at >= '2026-02-01Z' AND 'even' = ANY (l.tag_keys)",
        ),
        # In some locales this is a k in lower case.
        ({"search": "\u212a"}, "l.short_code LIKE '%%' || lower('\u212a') || '%%'"),
    ]
    for query, condition in filters:
        for sort_by in ("createdAt", "clickCount", "title"):
            for sort_order in ("asc", "desc"):
                expected = naive_order(alice.user, sort_by, sort_order, condition)
                walked = []
                for page in range(1, len(expected) // 10 + 2):
                    data = listed(api, sortBy=sort_by, sortOrder=sort_order, limit=10, page=page, **query)
                    assert data["pagination"] == {
                        "page": page,
                        "limit": 10,
                        "total": len(expected),
                        "pages": -(-len(expected) // 10),
                    }
                    walked += [url["shortCode"] for url in data["urls"]]
                assert walked == expected, (query, sort_by, sort_order)
