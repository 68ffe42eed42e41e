"""The number of links with each tag of an owner, which triggers maintain."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link, TagTotals
from testing.links.many import create_many, imported
from testing.threads import at_once

MakeLink = Callable[..., dict[str, Any]]
Totals = dict[tuple[int, str], tuple[int, int]]
URL = "https://example.com/"
MANY = 20_000


def kept() -> Totals:
    """Links and active links by owner and tag. Asserts that every row has links."""
    totals: Totals = {}
    for row in TagTotals.objects.all():
        assert row.links > 0
        links, active = totals.get((row.owner_id, row.tag_key), (0, 0))
        totals[row.owner_id, row.tag_key] = (links + row.links, active + row.active_links)
    return totals


def counted() -> Totals:
    totals: Totals = {}
    for owner, tags, is_active in Link.objects.values_list("owner_id", "tag_keys", "is_active"):
        for tag in tags:
            links, active = totals.get((owner, tag), (0, 0))
            totals[owner, tag] = (links + 1, active + is_active)
    return totals


def tags_of(owner: User) -> dict[str, tuple[int, int]]:
    assert kept() == counted()
    return {tag: totals for (owner_id, tag), totals in kept().items() if owner_id == owner.pk}


def insert(cursor: Any, owner: User, first: int, last: int, tags: list[str]) -> None:
    """Links with ids from ``first`` to ``last``, by SQL."""
    cursor.execute(
        "INSERT INTO links_link (id, public_id, owner_id, short_code, original_url, destination, tags, tag_keys,"
        " is_active, utm, allowed_countries, blocked_countries, allowed_devices, redirect_type)"
        " SELECT id, gen_random_uuid(), %s, 'n' || id, 'https://example.com/', 'https://example.com/', %s::text[],"
        " %s::text[], true, '{}', '{}', '{}', '{}', 302 FROM generate_series(%s, %s) id",
        [owner.pk, tags, tags, first, last],
    )


def test_totals_follow_every_change_of_a_link(
    api: APIClient, strange_api: APIClient, alice: NewAccount, stranger: NewAccount, make_link: MakeLink
) -> None:
    first = make_link(tags=["Sale", "mail"])
    make_link(tags=["SALE", "sale "])
    make_link()
    strange_api.post("/api/urls", {"originalUrl": URL, "tags": ["sale"]})
    assert tags_of(alice.user) == {"sale": (2, 2), "mail": (1, 1)}
    api.put(f"/api/urls/{first['_id']}", {"tags": ["mail", "new"]})
    assert tags_of(alice.user) == {"sale": (1, 1), "mail": (1, 1), "new": (1, 1)}
    api.put(f"/api/urls/{first['_id']}", {"isActive": False})
    assert tags_of(alice.user) == {"sale": (1, 1), "mail": (1, 0), "new": (1, 0)}
    api.put(f"/api/urls/{first['_id']}", {"isActive": True, "tags": ["sale", "mail"]})
    assert tags_of(alice.user) == {"sale": (2, 2), "mail": (1, 1)}
    api.put(f"/api/urls/{first['_id']}", {"tags": None, "title": "t"})
    assert tags_of(alice.user) == {"sale": (1, 1)}
    api.put(f"/api/urls/{first['_id']}", {"tags": ["mail"]})
    api.delete(f"/api/urls/{first['_id']}")
    assert tags_of(alice.user) == {"sale": (1, 1)}
    assert tags_of(stranger.user) == {"sale": (1, 1)}


def test_totals_follow_bulk_calls_and_imports(api: APIClient, alice: NewAccount) -> None:
    verdicts = create_many(api, [{"originalUrl": URL, "tags": ["a", f"n{n % 3}"]} for n in range(30)])
    ids = [verdict["url"]["_id"] for verdict in verdicts]
    assert tags_of(alice.user) == {"a": (30, 30), "n0": (10, 10), "n1": (10, 10), "n2": (10, 10)}
    changes = {"tags": ["b"], "isActive": False}
    assert api.post("/api/urls/bulk-update", {"ids": ids[:15], "data": changes}).status_code == 200
    assert tags_of(alice.user) == {"a": (15, 15), "b": (15, 0), "n0": (5, 5), "n1": (5, 5), "n2": (5, 5)}
    assert api.post("/api/urls/bulk-delete", {"ids": ids[10:20]}).status_code == 200
    assert tags_of(alice.user) == {"a": (10, 10), "b": (10, 0), "n0": (3, 3), "n1": (3, 3), "n2": (4, 4)}
    imported(api, "originalUrl,tags\nhttps://example.com/1,b\nhttps://example.com/2,b\n")
    assert tags_of(alice.user)["b"] == (12, 2)


def test_totals_do_not_change_when_a_domain_is_deleted(
    api: APIClient, alice: NewAccount, brand: Domain, make_link: MakeLink
) -> None:
    make_link(customCode="spring", tags=["other"])
    for code in ("spring", "summer"):
        make_link(customCode=code, tags=["sale"], domainId=str(brand.public_id))
    before = tags_of(alice.user)
    assert api.delete(f"/api/domains/{brand.public_id}").status_code == 200
    assert tags_of(alice.user) == before == {"other": (1, 1), "sale": (2, 2)}


@pytest.mark.django_db(transaction=True)
def test_totals_of_an_account_are_deleted_with_it(
    alice: NewAccount, stranger: NewAccount, strange_api: APIClient, make_link: MakeLink
) -> None:
    make_link(tags=["sale"])
    strange_api.post("/api/urls", {"originalUrl": URL, "tags": ["sale"]})
    alice.user.delete()
    assert kept() == counted() == {(stranger.user.pk, "sale"): (1, 1)}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_totals_equal_a_recount_after_any_sequence_of_operations(
    api: APIClient, strange_api: APIClient, alice: NewAccount, seed: int
) -> None:
    chance = random.Random(seed)

    def some_tags() -> list[str]:
        return chance.sample(["a", "b", "C", "\u00c4pfel", "x y", "{}", '"', "\\"], chance.randrange(4))

    def create(client: APIClient) -> None:
        create_many(
            client, [{"originalUrl": URL, "tags": some_tags()} for _ in range(chance.randrange(1, 5))]
        )

    def edit(client: APIClient, ids: list[str]) -> None:
        changes: dict[str, Any] = {"tags": some_tags(), "isActive": chance.random() < 0.5, "title": "t"}
        for name in chance.sample(list(changes), chance.randrange(3)):
            del changes[name]
        client.post("/api/urls/bulk-update", {"ids": ids, "data": changes})

    def delete(client: APIClient, ids: list[str]) -> None:
        client.post("/api/urls/bulk-delete", {"ids": ids[:3]})

    def write_directly(_: APIClient, ids: list[str]) -> None:
        links = Link.objects.filter(public_id__in=ids)
        links.update(
            tag_keys=sorted({tag.casefold() for tag in some_tags()}), is_active=chance.random() < 0.5
        )

    for _ in range(60):
        client = chance.choice([api, strange_api])
        owned = [url["_id"] for url in client.get("/api/urls?limit=100").json()["data"]["urls"]]
        if not owned or chance.random() < 0.3:
            create(client)
        else:
            chance.choice([edit, edit, delete, write_directly])(
                client, chance.sample(owned, len(owned) // 2 + 1)
            )
    assert tags_of(alice.user)


@pytest.mark.django_db(transaction=True)
def test_concurrent_writes_neither_lose_a_link_nor_deadlock(alice: NewAccount, api: APIClient) -> None:
    tags = ["a", "b", "c", "d"]
    ids = [
        verdict["url"]["_id"]
        for verdict in create_many(api, [{"originalUrl": URL, "tags": tags} for _ in range(40)])
    ]

    def work(number: int) -> set[int]:
        chance = random.Random(number)
        statuses = set()
        for _ in range(6):
            chosen, some = chance.sample(ids, 15), chance.sample(tags, 3)
            changes = {"tags": some, "isActive": chance.random() < 0.5}
            requests: list[tuple[str, dict[str, Any]]] = [
                ("/api/urls", {"originalUrl": URL, "tags": some}),
                ("/api/urls/bulk", {"urls": [{"originalUrl": URL, "tags": some[::-1]}] * 5}),
                ("/api/urls/bulk-update", {"ids": chosen, "data": changes}),
                ("/api/urls/bulk-delete", {"ids": chosen[:2]}),
            ]
            path, body = chance.choice(requests)
            # Two bulk calls of an account at a time; others are refused.
            statuses.add(api.post(path, body).status_code)
        return statuses

    statuses = set().union(*at_once([partial(work, number) for number in range(8)]))
    assert statuses <= {200, 201, 404, 429}
    assert {200, 201} <= statuses
    assert tags_of(alice.user)


@pytest.mark.django_db(transaction=True)
def test_links_of_different_slots_do_not_wait_for_each_other(alice: NewAccount) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        insert(cursor, alice.user, 80_000, 80_000, ["sale"])
        with psycopg.connect(**_parameters(), autocommit=True) as other, other.cursor() as concurrent:
            concurrent.execute("SET lock_timeout = '10s'")
            insert(concurrent, alice.user, 80_001, 80_001, ["sale"])
    assert tags_of(alice.user) == {"sale": (2, 2)}


@pytest.mark.django_db(transaction=True)
def test_the_last_link_of_a_tag_can_be_deleted_while_another_one_is_created(alice: NewAccount) -> None:
    first, last = 90_000, 90_080
    with connection.cursor() as cursor:
        insert(cursor, alice.user, first, first, ["sale"])

    def delete(link: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM links_clickcounter WHERE link_id = %s", [link])
            cursor.execute("DELETE FROM links_link WHERE id = %s", [link])

    def create(link: int) -> None:
        with connection.cursor() as cursor:
            insert(cursor, alice.user, link, link, ["sale"])

    # All links are in the same slot.
    for link in range(first, last, 8):
        at_once([partial(delete, link), partial(create, link + 8)])
        assert tags_of(alice.user) == {"sale": (1, 1)}


@pytest.mark.slow
def test_a_session_that_tagged_one_link_changes_many_links_in_time(alice: NewAccount) -> None:
    """The session keeps the triggers' plans for one row. A nested loop over all changed rows would take longer."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = '240s'")
        for first, last in ((100_000, 100_000), (100_001, 100_000 + MANY)):
            insert(cursor, alice.user, first, last, ["a", "b"])
            assert TagTotals.objects.exists()
            cursor.execute(
                "UPDATE links_link SET tag_keys = '{b,c}' WHERE id BETWEEN %s AND %s", [first, last]
            )
            assert tags_of(alice.user) == {"b": (last - first + 1,) * 2, "c": (last - first + 1,) * 2}
            cursor.execute("DELETE FROM links_clickcounter WHERE link_id BETWEEN %s AND %s", [first, last])
            cursor.execute("DELETE FROM links_link WHERE id BETWEEN %s AND %s", [first, last])
            assert tags_of(alice.user) == {}
        # The foreign keys are checked at the end of the transaction. The session may still have plans for tiny tables,
        # from earlier tests: these would scan the whole table for each deleted link.
        cursor.execute("DISCARD PLANS")


def _parameters() -> dict[str, Any]:
    parameters: dict[str, Any] = connection.get_connection_params()
    return {
        name: value
        for name, value in parameters.items()
        if name in ("dbname", "user", "password", "host", "port")
    }
