"""The sums of an account agree with a recount."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from domains.models import Domain
from links.models import ClickCounter, Code, Link, OwnerTotals
from testing.analytics.clicks import drain
from tests.links.totals.sums import sums

MakeLink = Callable[..., dict[str, Any]]


def kept_and_counted() -> tuple[dict[int, tuple[int, int, int]], dict[int, tuple[int, int, int]]]:
    """The stored totals and a recount, by owner. Omits owners without links."""
    drain()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT owner_id, sum(links)::int, sum(active_links)::int, sum(clicks)::int FROM links_ownertotals"
            " GROUP BY 1 HAVING bool_or(links <> 0 OR active_links <> 0 OR clicks <> 0)"
        )
        kept = {owner: tuple(row) for owner, *row in cursor.fetchall()}
        cursor.execute(
            "SELECT l.owner_id, count(*)::int, count(*) FILTER (WHERE is_active)::int, sum(n.clicks)::int"
            " FROM links_link l JOIN links_clickcounter n ON n.link_id = l.id GROUP BY 1"
        )
        counted = {owner: tuple(row) for owner, *row in cursor.fetchall()}
    return kept, counted


def insert_in_bulk(owner: User, count: int, prefix: str) -> None:
    """Links by COPY, as imports write them."""
    columns = (
        "public_id, owner_id, short_code, original_url, destination, tags, tag_keys, is_active, utm,"
        " allowed_countries, blocked_countries, allowed_devices, redirect_type"
    )
    address = "https://example.com/"
    with connection.cursor() as cursor, cursor.copy(f"COPY links_link ({columns}) FROM STDIN") as copy:
        for number in range(count):
            link = Link(short_code=f"{prefix}{number}")
            is_active = number % 3 > 0
            copy.write_row(
                (
                    link.public_id,
                    owner.pk,
                    link.short_code,
                    address,
                    address,
                    [],
                    [],
                    is_active,
                    "{}",
                    [],
                    [],
                    [],
                    302,
                )
            )


@pytest.mark.parametrize("seed", range(4))
def test_kept_sums_equal_a_recount_after_any_sequence_of_operations(
    api: APIClient, strange_api: APIClient, alice: NewAccount, visitor: Client, seed: int
) -> None:
    chance = random.Random(seed)
    links: list[tuple[APIClient, dict[str, Any]]] = []

    def create() -> None:
        client = chance.choice([api, strange_api])
        links.append(
            (client, client.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"])
        )

    def switch() -> None:
        client, link = chance.choice(links)
        client.put(f"/api/urls/{link['_id']}", {"isActive": chance.random() < 0.5, "title": "t"})

    def click() -> None:
        _, link = chance.choice(links)
        for _ in range(chance.randrange(4)):
            visitor.get("/" + link["shortCode"])

    def delete() -> None:
        client, link = links.pop(chance.randrange(len(links)))
        assert client.delete(f"/api/urls/{link['_id']}").status_code == 200

    def delete_a_strangers() -> None:
        client, link = chance.choice(links)
        (api if client is strange_api else strange_api).delete(f"/api/urls/{link['_id']}")

    def rename() -> None:
        client, link = chance.choice(links)
        client.put(f"/api/urls/{link['_id']}", {"customCode": f"code{chance.randrange(10**9)}"})

    def bulk() -> None:
        insert_in_bulk(alice.user, chance.randrange(5), f"bulk{chance.randrange(10**9)}n")

    def switch_in_bulk() -> None:
        Link.objects.filter(pk__gt=0, short_code__endswith=str(chance.randrange(10))).update(
            is_active=chance.random() < 0.5
        )

    for _ in range(60):
        possible = [create, bulk]
        if links:
            possible += [create, create, switch, switch, click, click]
            possible += [delete, delete_a_strangers, rename, switch_in_bulk]
        chance.choice(possible)()
    kept, counted = kept_and_counted()
    assert counted
    assert kept == counted
    assert sums(api) == counted[alice.user.pk]


def test_kept_sums_equal_a_recount_after_bulk_writes(
    api: APIClient, alice: NewAccount, stranger: NewAccount
) -> None:
    insert_in_bulk(alice.user, 100, "alices")
    insert_in_bulk(stranger.user, 10, "strangers")
    assert sums(api) == (100, 66, 0)
    Link.objects.bulk_create(
        [
            Link(owner=alice.workspace, short_code=f"orm{n}", original_url="x", destination="x")
            for n in range(5)
        ]
    )
    assert sums(api) == (105, 71, 0)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_link SET is_active = NOT is_active WHERE short_code LIKE 'alices%'")
        cursor.execute("UPDATE links_clickcounter SET clicks = clicks + link_id % 7")
    kept, counted = kept_and_counted()
    assert kept == counted
    assert counted[alice.user.pk][:2] == (105, 39)
    Link.objects.filter(short_code__endswith="7").delete()
    kept, counted = kept_and_counted()
    assert kept == counted
    assert counted[alice.user.pk][0] == 95


def test_each_new_link_has_one_counter(alice: NewAccount, make_link: MakeLink) -> None:
    make_link()
    insert_in_bulk(alice.user, 3, "bulk")
    links = Link.objects.values_list("pk", "owner_id")
    assert sorted(ClickCounter.objects.values_list("link_id", "owner_id")) == sorted(links)
    assert list(ClickCounter.objects.values_list("clicks", flat=True)) == [0, 0, 0, 0]


@pytest.mark.django_db(transaction=True)
def test_deleting_an_account_deletes_only_its_data(
    alice: NewAccount, strange_api: APIClient, make_link: MakeLink, stranger: NewAccount, visitor: Client
) -> None:
    domain = Domain.objects.create(
        owner=alice.workspace, domain="brand.example", host="brand.example", status="active"
    )
    link = make_link(customCode="spring")
    make_link(domainId=str(domain.public_id), customCode="summer")
    inactive = make_link(customCode="autumn")
    visitor.get("/spring")
    Link.objects.filter(public_id=inactive["_id"]).update(is_active=False)
    insert_in_bulk(alice.user, 20, "bulk")
    other_link = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    visitor.get("/" + other_link["shortCode"])
    User.objects.get(pk=alice.user.pk).delete()
    kept, counted = kept_and_counted()
    assert kept == counted == {stranger.user.pk: (1, 1, 1)}
    assert set(OwnerTotals.objects.values_list("owner_id", flat=True)) == {stranger.user.pk}
    assert sums(strange_api) == (1, 1, 1)
    assert visitor.get("/" + link["shortCode"]).status_code == 404
    assert list(Code.objects.exclude(link=None).values_list("code", flat=True)) == [other_link["shortCode"]]


@pytest.mark.django_db(transaction=True)
def test_an_account_with_deleted_links_on_its_domain_can_be_deleted(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    domain = Domain.objects.create(
        owner=alice.workspace, domain="brand.example", host="brand.example", status="active"
    )
    link = make_link(domainId=str(domain.public_id), customCode="summer")
    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    User.objects.get(pk=alice.user.pk).delete()
    assert kept_and_counted() == ({}, {})
    assert not Domain.objects.exists()
