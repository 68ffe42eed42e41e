"""Counts of lists that are kept: how long they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.host import primary, state
from testing.links.many import imported
from testing.threads import at_once
from tests.links.listing.listed import listed, naive_order, stock, total
from tests.links.listing.walking import FILTERS

MakeLink = Callable[..., dict[str, Any]]


def test_a_count_is_kept_until_a_link_of_its_owner_changes(
    api: APIClient,
    strange_api: APIClient,
    alice: NewAccount,
    make_link: MakeLink,
    *,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Any,
) -> None:
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 2)
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
@pytest.mark.parametrize("other", [(7, 2), (8, 1)], ids=["timeline", "system"])
def test_a_count_is_not_used_on_another_server_or_timeline(
    api: APIClient,
    alice: NewAccount,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Any,
    *,
    other: tuple[int, int],
) -> None:
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 2)
    # The connection stays, as the transaction of the test does.
    monkeypatch.setattr(connections["default"], "_server", primary.UNKNOWN)
    stock(alice.user, 5)
    for server, queries in (
        ((7, 1), 4),
        ((7, 1), 3),
        (other, 4),
        (other, 3),
    ):
        primary.admit(primary.number_of(*server))
        with django_assert_num_queries(queries):
            assert total(api, search="stock", limit=1) == 5
    primary.forget()


def test_only_new_links_are_counted_after_insertions(
    api: APIClient,
    alice: NewAccount,
    make_link: MakeLink,
    *,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Any,
) -> None:
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 2)
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
    monkeypatch.setattr("links.searches.REACH", 1)
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
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 2)
    monkeypatch.setattr("links.list_counts.COUNT_LIMIT", 10)
    stock(alice.user, 11)
    for queries in (4, 3):
        with django_assert_num_queries(queries):
            assert listed(api, search="stock", limit=1)["pagination"]["totalIsCapped"] is True
        make_link(title="stock")
    api.delete(f"/api/urls/{listed(api)['urls'][0]['_id']}")
    with django_assert_num_queries(4):
        assert listed(api, search="stock", limit=1)["pagination"]["totalIsCapped"] is True


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_counts_are_exact_after_concurrent_changes(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 2)
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
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 2)
    for _ in range(2):
        for query, condition in FILTERS:
            assert total(api, limit=1, **query) == len(naive_order(alice.user, "createdAt", "asc", condition))
            assert total(strange_api, limit=1, **query) == 0
