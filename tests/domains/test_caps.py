"""The cap on domains per account, and the pagination of the list."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from testing.accounts.accounts import key_client
from testing.refusals import broken_rules
from testing.threads import at_once

Claim = Callable[..., dict[str, Any]]

FULL = {
    "success": False,
    "message": "An account may have at most 3 domains. Delete one first.",
    "code": "quota_exceeded",
}


@pytest.fixture
def three(settings: Settings) -> None:
    settings.DOMAINS_PER_ACCOUNT = 3


def add(client: APIClient, number: int) -> Any:
    return client.post("/api/domains", {"domain": f"brand{number}.example"})


def names(client: APIClient, query: str = "") -> list[str]:
    response = client.get(f"/api/domains{query}")
    assert response.status_code == 200, response.content
    return [domain["domain"] for domain in response.json()["data"]["domains"]]


def test_number_of_domains_per_account_is_capped(
    three: None, api: APIClient, strange_api: APIClient, settings: Settings
) -> None:
    added = [add(api, number) for number in range(4)]
    assert [response.status_code for response in added] == [201, 201, 201, 403]
    assert added[3].json() == FULL
    assert names(api) == ["brand0.example", "brand1.example", "brand2.example"]
    assert add(strange_api, 0).status_code == 201
    # A repeated claim is refused as a duplicate, not because of the cap.
    assert (add(api, 0).status_code, add(api, 0).json()["code"]) == (409, "domain_exists")
    first = api.get("/api/domains").json()["data"]["domains"][0]
    assert api.delete(f"/api/domains/{first['_id']}").status_code == 200
    assert [add(api, number).status_code for number in (4, 5)] == [201, 403]
    settings.DOMAINS_PER_ACCOUNT = 0
    assert add(api, 6).status_code == 201


def test_lowering_the_cap_deletes_no_domain(api: APIClient, settings: Settings) -> None:
    for number in range(3):
        add(api, number)
    settings.DOMAINS_PER_ACCOUNT = 1
    assert len(names(api)) == 3
    assert add(api, 3).status_code == 403


@pytest.mark.django_db(transaction=True)
def test_concurrent_claims_do_not_exceed_the_cap(three: None, alice: NewAccount) -> None:
    def claim(number: int) -> int:
        return add(key_client(alice.api_key), number).status_code

    assert sorted(at_once([partial(claim, number) for number in range(12)])) == [201] * 3 + [403] * 9
    assert Domain.objects.count() == 3


def test_without_parameters_the_list_is_whole_and_has_no_pagination(api: APIClient) -> None:
    for number in range(25):
        add(api, number)
    data = api.get("/api/domains").json()["data"]
    assert data.keys() == {"domains"}
    assert len(data["domains"]) == 25


@pytest.mark.parametrize(
    ("query", "shown", "page", "limit"),
    [
        ("?page=1", range(20), 1, 20),
        ("?page=2", range(20, 25), 2, 20),
        ("?page=3", range(0), 3, 20),
        ("?limit=10", range(10), 1, 10),
        ("?limit=10&page=3", range(20, 25), 3, 10),
        ("?limit=100", range(25), 1, 100),
    ],
)
def test_a_page(query: str, shown: range, page: int, limit: int, api: APIClient) -> None:
    for number in range(25):
        add(api, number)
    data = api.get(f"/api/domains{query}").json()["data"]
    assert [domain["domain"] for domain in data["domains"]] == [f"brand{number}.example" for number in shown]
    pages = -(-25 // limit)
    assert data["pagination"] == {"page": page, "limit": limit, "total": 25, "pages": pages}


def test_a_stranger_sees_nothing_and_a_page_is_three_queries(
    api: APIClient, strange_api: APIClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        add(api, number)
    with django_assert_num_queries(3):
        assert len(names(api, "?limit=3")) == 3
    data = strange_api.get("/api/domains?page=1").json()["data"]
    assert data == {"domains": [], "pagination": {"page": 1, "limit": 20, "total": 0, "pages": 0}}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?page=0", "page"),
        ("?limit=0", "limit"),
        ("?limit=101", "limit"),
        ("?page=x", "page"),
        ("?page=", "page"),
        ("?page=1000000&limit=100", "page"),
    ],
)
def test_invalid_page_parameters_are_refused(query: str, field: str, api: APIClient) -> None:
    assert [name for name, _ in broken_rules(api.get(f"/api/domains{query}"))] == [field]
