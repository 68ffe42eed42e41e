"""Archived links: they work like any other, and lists hide them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.rights import Role
from accounts.services import NewAccount
from domains.models import Domain
from links.models import ClickCounter, Link
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.keys import scoped_client
from testing.accounts.workspaces import add_member, key_client_in
from testing.analytics.clicks import drain
from testing.links.calls import address, put, whole
from testing.links.many import create_many, imported, results
from testing.refusals import broken_rules
from tests.links.exports import export, rows
from tests.links.listing.listed import listed, listed_titles, naive_order, stock

MakeLink = Callable[..., dict[str, Any]]
URL = "https://example.com/"
CONDITIONS = {"no": "NOT l.is_archived", "yes": "l.is_archived", "any": "true"}
# Rows that contradict those of the links.
_INCONSISTENT = """
SELECT 'totals', owner_id::text FROM (
    SELECT owner_id, sum(links) AS a, sum(active_links) AS b, sum(archived_links) AS c, sum(archived_active_links) AS d
    FROM links_ownertotals GROUP BY 1
) t FULL JOIN (
    SELECT owner_id, count(*) AS a, count(*) FILTER (WHERE is_active) AS b, count(*) FILTER (WHERE is_archived) AS c,
        count(*) FILTER (WHERE is_archived AND is_active) AS d
    FROM links_link GROUP BY 1
) l USING (owner_id) WHERE (t.a, t.b, t.c, t.d)
    <> (coalesce(l.a, 0), coalesce(l.b, 0), coalesce(l.c, 0), coalesce(l.d, 0))
UNION ALL
SELECT 'tags', tag FROM (
    SELECT owner_id, tag_key AS tag, sum(links) AS a, sum(active_links) AS b, sum(archived_links) AS c,
        sum(archived_active_links) AS d
    FROM links_tagtotals GROUP BY 1, 2
) t FULL JOIN (
    SELECT owner_id, unnest(tag_keys) AS tag, count(*) AS a, count(*) FILTER (WHERE is_active) AS b,
        count(*) FILTER (WHERE is_archived) AS c, count(*) FILTER (WHERE is_archived AND is_active) AS d
    FROM links_link GROUP BY 1, 2
) l USING (owner_id, tag) WHERE (t.a, t.b, t.c, t.d) IS DISTINCT FROM (l.a, l.b, l.c, l.d)
UNION ALL
SELECT 'copies', l.id::text FROM links_link l
JOIN links_clickcounter n ON n.link_id = l.id JOIN links_searchable s ON s.link_id = l.id
WHERE (n.is_archived, s.is_archived) <> (l.is_archived, l.is_archived)
"""


def inconsistencies() -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(_INCONSISTENT)
        return list(cursor.fetchall())


@pytest.fixture
def partly_archived(alice: NewAccount) -> None:
    stock(alice.user, 41)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_link SET is_archived = substr(short_code, 6)::int % 4 = 0")


def test_a_link_is_archived_and_unarchived(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="old")
    assert whole(api, link)["isArchived"] is False
    assert put(api, link, isArchived=True).json()["data"]["url"]["isArchived"] is True
    assert whole(api, link)["isArchived"] is True
    assert listed_titles(api) == listed_titles(api, archived="no") == []
    [row] = listed(api, archived="yes")["urls"]
    assert (row["_id"], row["isArchived"], row["status"]) == (link["_id"], True, "active")
    assert put(api, link, isArchived=None).json()["data"]["url"]["isArchived"] is False
    assert listed_titles(api) == listed_titles(api, archived="any") == ["old"]
    assert listed_titles(api, archived="yes") == []
    make_link(title="new", isArchived=True)
    assert listed_titles(api, archived="yes") == ["new"]


@pytest.mark.parametrize("value", ["yes", 1, "true", []])
def test_another_value_is_400(value: Any, api: APIClient, make_link: MakeLink) -> None:
    response = api.put(address(make_link()), {"isArchived": value})
    assert response.status_code == 400
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [
        ("isArchived", "invalid")
    ]
    assert not Link.objects.get().is_archived


@pytest.mark.parametrize("value", ["", "true", "YES", "no,yes", "\0"])
@pytest.mark.parametrize("path", ["/api/urls", "/api/urls/export"])
def test_another_filter_is_400(path: str, value: str, api: APIClient) -> None:
    response = api.get(path, {"archived": value})
    assert [field for field, _ in broken_rules(response)] == ["archived"]


def test_visitors_reports_and_totals_do_not_notice(
    api: APIClient, make_link: MakeLink, visitor: Client
) -> None:
    link = make_link(isArchived=True)
    assert visitor.get(f"/{link['shortCode']}")["Location"] == "https://example.com/page"
    drain()
    assert whole(api, link)["clickCount"] == 1
    stats = api.get("/api/urls/stats").json()["data"]["stats"]
    assert (stats["totalUrls"], stats["activeUrls"], stats["totalClicks"]) == (1, 1, 1)
    assert [top["_id"] for top in stats["topUrls"]] == [link["_id"]]


@pytest.mark.slow
@pytest.mark.usefixtures("partly_archived")
@pytest.mark.parametrize("thresholds", [None, (1, 3, 0), (10, 25, 5)])
@pytest.mark.parametrize("sort_order", ["asc", "desc"])
@pytest.mark.parametrize("sort_by", ["createdAt", "clickCount", "title"])
def test_all_pages_together_are_the_sorted_list(
    api: APIClient,
    alice: NewAccount,
    monkeypatch: pytest.MonkeyPatch,
    sort_by: str,
    sort_order: str,
    thresholds: tuple[int, int, int] | None,
) -> None:
    """Whatever way of finding a page the thresholds choose."""
    if thresholds is not None:
        names = ("links.searches.REACH", "links.searches.FETCH_LIMIT", "links.lists._FETCHED_OF_PERIOD")
        for name, value in zip(names, thresholds, strict=True):
            monkeypatch.setattr(name, value)
    Link.objects.filter(tag_keys__contains=["even"]).update(password="hash")
    filters = [
        ({}, "true"),
        ({"hasPassword": "true"}, "l.password IS NOT NULL"),
        ({"hasPassword": "false"}, "l.password IS NULL"),
        ({"isActive": "true"}, "l.is_active"),
        ({"isActive": "false"}, "NOT l.is_active"),
        ({"search": "stock1"}, "l.short_code LIKE 'stock1%%'"),
        ({"search": "stock", "isActive": "false"}, "NOT l.is_active"),
        ({"tags": "even"}, "'even' = ANY (l.tag_keys)"),
        ({"tags": "even,odd", "isActive": "true"}, "'even' = ANY (l.tag_keys) AND l.is_active"),
        ({"createdFrom": "2026-01-02"}, "l.created_at >= '2026-01-02Z'"),
        ({"domainId": "base"}, "true"),
        ({"status": "active"}, "l.is_active"),
        ({"status": "disabled"}, "NOT l.is_active"),
        ({"status": "expired"}, "false"),
    ]
    for query, condition in filters:
        for archived, hides in CONDITIONS.items():
            expected = naive_order(alice.user, sort_by, sort_order, f"{condition} AND {hides}")
            walked = []
            for page in range(1, len(expected) // 4 + 2):
                found = listed(
                    api, sortBy=sort_by, sortOrder=sort_order, limit=4, page=page, archived=archived, **query
                )
                assert found["pagination"]["total"] == len(expected), (query, archived)
                walked += [url["shortCode"] for url in found["urls"]]
            assert walked == expected, (query, archived)
            assert len(rows(api, archived=archived, **query)) == len(expected)


@pytest.mark.usefixtures("partly_archived")
@pytest.mark.parametrize("archived", ["no", "yes", "any"])
def test_a_list_takes_as_many_queries_whatever_it_hides(
    archived: str, api: APIClient, django_assert_num_queries: Any
) -> None:
    for query in ({}, {"search": "stock"}, {"tags": "even"}, {"sortBy": "title"}, {"sortBy": "clickCount"}):
        with django_assert_num_queries(3):
            listed(api, archived=archived, **query)


def test_counts_follow_an_archival(api: APIClient, make_link: MakeLink, brand: Domain) -> None:
    links = [make_link(title=str(number), tags=["sale"]) for number in range(3)]
    domain = str(brand.public_id)
    make_link(title="elsewhere", domainId=domain)
    queries: list[dict[str, Any]] = [
        {"tags": "sale"}, {"search": "example"}, {"domainId": "base"}, {"createdFrom": "2020-01-01"},
    ]  # fmt: skip

    def totals() -> list[int]:
        return [listed(api, **query)["pagination"]["total"] for query in queries]

    assert totals() == [3, 4, 3, 4]
    put(api, links[0], isArchived=True)
    assert totals() == [2, 3, 2, 3]
    put(api, links[0], isArchived=False)
    assert totals() == [3, 4, 3, 4]


def test_the_id_of_another_system_finds_its_link_unless_the_list_shall_hide_it(
    api: APIClient, make_link: MakeLink
) -> None:
    make_link(title="old", externalId="1", isArchived=True)
    assert listed_titles(api, externalId="1") == ["old"]
    assert listed_titles(api, externalId="1", archived="no") == []


def test_a_short_address_finds_an_archived_link_on_demand(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="old", isArchived=True)
    assert listed_titles(api, search=link["shortUrl"]) == []
    assert listed_titles(api, search=link["shortUrl"], archived="any") == ["old"]


def test_bulk_calls_archive(api: APIClient) -> None:
    made = create_many(api, [{"originalUrl": URL, "title": str(number)} for number in range(3)])
    ids = [verdict["url"]["_id"] for verdict in made]
    response = api.post("/api/urls/bulk-update", {"ids": ids[:2], "data": {"isArchived": True}})
    assert [verdict["url"]["isArchived"] for verdict in results(response, "updated")] == [True, True]
    assert listed_titles(api) == ["2"]
    response = api.post("/api/urls/bulk-update", {"urls": [{"_id": ids[0], "isArchived": False}]})
    assert [verdict["success"] for verdict in results(response, "updated")] == [True]
    assert listed_titles(api) == ["2", "0"]
    assert inconsistencies() == []


def test_an_export_has_archived_links_unless_told_otherwise_and_can_be_imported(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    make_link(title="old", isArchived=True)
    make_link(title="new")
    exported = [(row["title"], row["isArchived"]) for row in rows(api)]
    assert exported == [("new", "false"), ("old", "true")]
    assert [row["title"] for row in rows(api, archived="no")] == ["new"]
    assert [row["title"] for row in rows(api, archived="yes")] == ["old"]
    lines = export(api, format="jsonl")
    for content in (export(api), lines):
        Link.objects.all().delete()
        assert all(verdict["success"] for verdict in imported(strange_api, content))
        assert listed_titles(strange_api) == ["new"]
        assert listed_titles(strange_api, archived="yes") == ["old"]
        assert inconsistencies() == []


def test_the_history_restores_it(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    put(api, link, isArchived=True)
    [change] = api.get(f"{address(link)}/history").json()["data"]["changes"]
    assert (change["before"], change["after"]) == ({"isArchived": False}, {"isArchived": True})
    assert api.post(f"{address(link)}/history/{change['_id']}/restore").status_code == 200
    assert whole(api, link)["isArchived"] is False


def test_a_deleted_link_comes_back_archived(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="old", isArchived=True, tags=["sale"])
    assert api.delete(address(link)).status_code == 200
    assert inconsistencies() == []
    [row] = api.get("/api/urls/deleted").json()["data"]["urls"]
    assert row["_id"] == link["_id"]
    assert api.post(f"{address(link)}/undelete").status_code == 200
    assert listed_titles(api) == []
    assert listed_titles(api, archived="yes", tags="sale") == ["old"]
    assert inconsistencies() == []


def test_a_moved_link_stays_archived(
    api: APIClient, alice: NewAccount, marketing: Workspace, make_link: MakeLink
) -> None:
    link = make_link(title="old", isArchived=True, tags=["sale"])
    target = {"ids": [link["_id"]], "workspaceId": str(marketing.public_id)}
    assert api.post("/api/urls/move", target).status_code == 200
    there = key_client_in(marketing, alice.api_key)
    assert listed_titles(api, archived="any") == listed_titles(there) == []
    assert listed_titles(there, archived="yes") == ["old"]
    assert inconsistencies() == []


def test_viewers_and_strangers_cannot_archive(
    alice: NewAccount, stranger: NewAccount, strange_api: APIClient, marketing: Workspace, make_link: MakeLink
) -> None:
    link = make_link()
    assert strange_api.put(address(link), {"isArchived": True}).status_code == 404
    there = key_client_in(marketing, alice.api_key)
    made = there.post("/api/urls", {"originalUrl": URL}).json()["data"]["url"]
    add_member(marketing, stranger, Role.VIEWER)
    viewer = key_client_in(marketing, stranger.api_key)
    assert viewer.put(address(made), {"isArchived": True}).status_code == 403
    assert viewer.get("/api/urls", {"archived": "no"}).json()["data"]["pagination"]["total"] == 1
    assert not Link.objects.filter(is_archived=True).exists()


def test_a_key_that_is_limited_to_its_links_lists_them_likewise(alice: NewAccount) -> None:
    client = scoped_client(alice.workspace, alice.user, only_own=True)
    for number in range(6):
        body = {"originalUrl": URL, "title": str(number), "isArchived": number % 2 == 0}
        assert client.post("/api/urls", body).status_code == 201
    for sort in ("createdAt", "title", "clickCount"):
        order = {"sortBy": sort, "sortOrder": "asc"}
        assert listed_titles(client, **order) == ["1", "3", "5"]
        assert listed_titles(client, archived="yes", **order) == ["0", "2", "4"]
        assert listed_titles(client, archived="any", **order) == ["0", "1", "2", "3", "4", "5"]
        first = listed(client, archived="no", limit=1, **order)
        assert (first["urls"][0]["title"], first["pagination"]["total"]) == ("1", 3)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_copies_and_totals_equal_a_recount_after_any_sequence_of_operations(
    api: APIClient, seed: int
) -> None:
    chance = random.Random(seed)
    for _ in range(30):
        ids = [url["_id"] for url in listed(api, archived="any", limit=100)["urls"]]
        if len(ids) < 4 or chance.random() < 0.3:
            create_many(
                api,
                [
                    {"originalUrl": URL, "tags": chance.sample("abc", 2), "isArchived": chance.random() < 0.5}
                    for _ in range(4)
                ],
            )
            continue
        chosen = chance.sample(ids, 3)
        changes = {"isArchived": chance.random() < 0.5, "isActive": chance.random() < 0.5, "tags": ["a"]}
        for name in chance.sample(list(changes), 2):
            del changes[name]
        api.post("/api/urls/bulk-update", {"ids": chosen, "data": changes})
        if chance.random() < 0.3:
            api.post("/api/urls/bulk-delete", {"ids": chosen[:1]})
    assert inconsistencies() == []
    assert ClickCounter.objects.filter(is_archived=True).exists()
