"""The filter of lists and exports by domain."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain, DomainStatus
from links.models import Link
from testing.accounts.keys import scoped_client
from testing.domains.domains import active_domain
from testing.links.many import UNKNOWN_ID
from testing.refusals import broken_rules
from tests.links.listing.listed import listed, listed_titles, naive_order, spread_over_periods, stock, total

MakeLink = Callable[..., dict[str, Any]]


def put_on(domain: Domain, condition: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE links_link SET domain_id = %s WHERE {condition}", [domain.pk])


@pytest.mark.parametrize("small", [5, 20_000])
@pytest.mark.slow
def test_the_filter_combines_with_all_others_and_every_order(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    """It sorts like Python and filters like SQL, on both sides of the internal thresholds."""
    stock(alice.user, 41)
    spread_over_periods()
    domain = active_domain(alice.workspace)
    put_on(domain, "id %% 4 = 1")
    put_on(active_domain(alice.workspace, "other.example"), "id %% 10 = 2")
    monkeypatch.setattr("links.searches.REACH", 3)
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 3)
    monkeypatch.setattr("links.searches.SMALL_DOMAIN", small)
    domains = {
        str(domain.public_id).upper(): f"l.domain_id = {domain.pk}",
        "base": "l.domain_id IS NULL",
    }
    filters = [
        ({}, "true"),
        ({"isActive": "false"}, "NOT l.is_active"),
        ({"search": "stock"}, "true"),
        ({"search": "k1", "isActive": "true"}, "l.short_code LIKE 'stock1%%' AND l.is_active"),
        ({"search": "1"}, "l.short_code LIKE '%%1%%'"),
        ({"tags": "even"}, "'even' = ANY (l.tag_keys)"),
        (
            {"tags": "even", "search": "stock", "createdFrom": "2026-02-01"},
            "'even' = ANY (l.tag_keys) AND l.created_at >= '2026-02-01Z'",
        ),
        ({"createdBefore": "2026-03-13"}, "l.created_at < '2026-03-13Z'"),
    ]
    for identifier, on_domain in domains.items():
        for query, condition in filters:
            for sort_by in ("createdAt", "clickCount", "title"):
                for sort_order in ("asc", "desc"):
                    order = {"domainId": identifier, "sortBy": sort_by, "sortOrder": sort_order, **query}
                    expected = naive_order(alice.user, sort_by, sort_order, f"{on_domain} AND {condition}")
                    walked = []
                    for page in range(1, len(expected) // 7 + 2):
                        data = listed(api, limit=7, page=page, **order)
                        assert data["pagination"]["total"] == len(expected)
                        walked += [url["shortCode"] for url in data["urls"]]
                    assert walked == expected, order
            exported = api.get("/api/urls/export", {"format": "jsonl", "domainId": identifier, **query})
            codes = [
                json.loads(line)["shortCode"] for line in b"".join(exported.streaming_content).splitlines()
            ]
            assert codes == naive_order(alice.user, "createdAt", "desc", f"{on_domain} AND {condition}")


def test_other_domains_are_unknown(
    api: APIClient, strange_api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    domain = active_domain(alice.workspace)
    make_link(title="Secret", domainId=str(domain.public_id))
    for path in ("/api/urls", "/api/urls/export"):
        unknown = [
            api.get(path, {"domainId": text})
            for text in (
                UNKNOWN_ID,
                "BASE",
                "go.example",
                "0",
                str(domain.pk),
                str(alice.user.public_id),
                "~" * 999,
            )
        ]
        for response in [*unknown, strange_api.get(path, {"domainId": str(domain.public_id)})]:
            assert response.status_code == 404
            assert response.json() == {
                "success": False,
                "message": "Domain not found.",
                "code": "not_found",
            }
        assert broken_rules(api.get(path, {"domainId": ""})) == [("domainId", "blank")]
        assert broken_rules(api.get(path, {"domainId": "\0"})) == [
            ("domainId", "null_characters_not_allowed")
        ]
    assert listed_titles(api, domainId=str(domain.public_id)) == ["Secret"]
    assert listed_titles(strange_api, domainId="base") == []


def test_links_are_found_on_a_domain_in_any_state(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    domain = active_domain(alice.workspace)
    identifier = str(domain.public_id)
    make_link(title="Here", domainId=identifier)
    for status in (DomainStatus.INACTIVE, DomainStatus.ACTIVE):
        Domain.objects.update(status=status)
        assert listed_titles(api, domainId=identifier) == ["Here"]
    make_link(title="There", domainId="base")
    assert listed_titles(api, domainId="base") == ["There"]


def test_keys_filter_within_their_limits(api: APIClient, alice: NewAccount, make_link: MakeLink) -> None:
    domain, other = active_domain(alice.workspace), active_domain(alice.workspace, "other.example")
    of_domain = scoped_client(alice.workspace, alice.user, domain_id=domain.pk)
    of_key = scoped_client(alice.workspace, alice.user, only_own=True)
    for identifier, title in ((str(domain.public_id), "On domain"), ("base", "On base")):
        make_link(title=title, domainId=identifier)
        body = {"originalUrl": "https://example.com/", "title": f"Own {title}", "domainId": identifier}
        assert of_key.post("/api/urls", body).status_code == 201
    named = {"domainId": str(domain.public_id)}
    assert listed_titles(of_domain, **named) == ["Own On domain", "On domain"]
    assert listed_titles(of_domain, search="own", **named) == ["Own On domain"]
    for identifier in ("base", str(other.public_id), UNKNOWN_ID):
        assert of_domain.get("/api/urls", {"domainId": identifier}).status_code == 404
        assert of_domain.get("/api/urls/export", {"domainId": identifier}).status_code == 404
    assert listed_titles(of_key, **named) == ["Own On domain"]
    assert listed_titles(of_key, domainId="base") == ["Own On base"]
    assert listed_titles(of_key, domainId=str(other.public_id)) == []


@pytest.mark.parametrize("small", [1, 20_000])
def test_a_list_takes_the_same_number_of_queries_for_any_number_of_links(
    api: APIClient,
    alice: NewAccount,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Any,
    *,
    small: int,
) -> None:
    monkeypatch.setattr("links.searches.SMALL_DOMAIN", small)
    stock(alice.user, 4)
    domain = active_domain(alice.workspace)
    for modulus in (4, 2):
        put_on(domain, f"id %% {modulus} = 1")
        for sort_by in ("createdAt", "clickCount", "title"):
            # A list takes three.
            with django_assert_num_queries(5):
                listed(api, domainId=str(domain.public_id), sortBy=sort_by)
            with django_assert_num_queries(4):
                listed(api, domainId="base", sortBy=sort_by)


def test_totals_follow_the_links_of_a_deleted_domain(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(alice.user, 12)
    domain = active_domain(alice.workspace)
    put_on(domain, "id %% 3 = 0")
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 2)
    for query in ({}, {"search": "stock"}):
        assert total(api, domainId="base", limit=1, **query) == 8
        assert total(api, domainId=str(domain.public_id), limit=1, **query) == 4
    assert api.delete(f"/api/domains/{domain.public_id}").status_code == 200
    for query in ({}, {"search": "stock"}):
        assert total(api, domainId="base", limit=1, **query) == 12


def test_the_total_of_the_default_domain_has_no_limit_while_few_links_are_elsewhere(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(alice.user, 9)
    domain = active_domain(alice.workspace)
    first, second, third = Link.objects.order_by("pk")[:3]
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 2)
    monkeypatch.setattr("links.list_counts.COUNT_LIMIT", 2)
    for link, expected in (
        (first, {"total": 8, "pages": 8}),
        (second, {"total": 7, "pages": 7}),
        (third, {"total": 2, "pages": 2, "totalIsCapped": True}),
    ):
        put_on(domain, f"id = {link.pk}")
        assert listed(api, domainId="base", limit=1)["pagination"] == {"page": 1, "limit": 1, **expected}
