from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from testing.refusals import broken_rules
from tests.links.listing.listed import listed, listed_titles, stock, total

ITEM_KEYS = {
    "_id",
    "originalUrl",
    "targetUrl",
    "shortCode",
    "customCode",
    "shortUrl",
    "domainId",
    "title",
    "tags",
    "clickCount",
    "isActive",
    "isArchived",
    "status",
    "health",
    "startsAt",
    "expiresAt",
    "hasPassword",
    "redirectType",
    "createdAt",
    "updatedAt",
    "creator",
}
MakeLink = Callable[..., dict[str, Any]]


# Responses


def test_an_empty_list(api: APIClient) -> None:
    assert listed(api) == {"urls": [], "pagination": {"page": 1, "limit": 20, "total": 0, "pages": 0}}


def test_an_item_in_full(api: APIClient, alice: NewAccount, make_link: MakeLink) -> None:
    link = make_link(
        title="t",
        customCode="spring",
        password="secret",
        tags=["Sale", "e-mail"],
        expiresAt="2030-06-01",
        redirectType=301,
    )
    updated = api.put(f"/api/urls/{link['_id']}", {"title": "u"}).json()["data"]["url"]["updatedAt"]
    assert listed(api) == {
        "urls": [
            {
                "_id": link["_id"],
                "originalUrl": "https://example.com/page",
                "targetUrl": None,
                "shortCode": link["shortCode"],
                "customCode": "spring",
                "shortUrl": "http://sho.rt/spring",
                "domainId": "base",
                "title": "u",
                "tags": ["Sale", "e-mail"],
                "clickCount": 0,
                "isActive": True,
                "isArchived": False,
                "status": "active",
                "health": {"status": "unknown", "checkedAt": None, "problem": None, "failingSince": None},
                "startsAt": None,
                "expiresAt": "2030-06-01T00:00:00Z",
                "hasPassword": True,
                "redirectType": 301,
                "createdAt": link["createdAt"],
                "updatedAt": updated,
                "creator": {
                    "_id": str(alice.user.public_id),
                    "firstName": alice.user.first_name,
                    "lastName": alice.user.last_name,
                    "email": "alice@example.com",
                },
            }
        ],
        "pagination": {"page": 1, "limit": 20, "total": 1, "pages": 1},
    }


def test_an_item_on_a_domain_has_the_domain_in_its_short_url(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    domain = Domain.objects.create(
        owner=alice.workspace,
        domain="brand.example",
        subdomain="go",
        host="go.brand.example",
        status="active",
    )
    link = make_link(domainId=str(domain.public_id))
    [item] = listed(api)["urls"]
    assert item.keys() == ITEM_KEYS
    assert item["shortUrl"] == f"https://go.brand.example/{link['shortCode']}"
    assert item["domainId"] == str(domain.public_id)


def test_an_item_has_the_values_of_a_single_read(api: APIClient, make_link: MakeLink) -> None:
    links = [
        make_link(),
        make_link(customCode="spring", password="secret", tags=["a"], expiresAt="2001-01-01"),
        make_link(targetUrl="https://example.com/Now", startsAt="2040-01-01"),
    ]
    for item in listed(api)["urls"]:
        whole = api.get(f"/api/urls/{item['_id']}").json()["data"]["url"]
        assert item == {name: whole[name] for name in ITEM_KEYS}
    assert len(links) == 3


def test_the_newest_link_comes_first_and_a_page_has_twenty_links(api: APIClient, make_link: MakeLink) -> None:
    for number in range(21):
        make_link(title=str(number))
    data = listed(api)
    assert [url["title"] for url in data["urls"]] == [str(number) for number in range(20, 0, -1)]
    assert data["pagination"] == {"page": 1, "limit": 20, "total": 21, "pages": 2}


def test_a_token_returns_the_same_list_as_a_key(bearer: APIClient, make_link: MakeLink) -> None:
    make_link(title="mine")
    assert listed_titles(bearer) == ["mine"]


def test_a_stranger_lists_no_links(
    api: APIClient, strange_api: APIClient, make_link: MakeLink, alice: NewAccount
) -> None:
    make_link(title="secret", tags=["secret"], customCode="secret")
    make_link(title="other")
    for query in (
        {},
        {"search": "secret"},
        {"tags": "secret"},
        {"isActive": "true"},
        {"sortBy": "clickCount"},
    ):
        assert listed_titles(strange_api, **query) == []
    for key in ("owner", "owner_id", "creator", "user"):
        assert listed_titles(strange_api, **{key: str(alice.user.public_id)}) == []
        assert listed_titles(strange_api, **{key: alice.user.pk}) == []
    assert len(listed_titles(api)) == 2


@pytest.mark.django_db
def test_listing_requires_a_credential(anonymous: APIClient) -> None:
    for headers in ({}, {"x-api-key": "sl_live_" + "0" * 38}, {"authorization": "Bearer x"}):
        response = anonymous.get("/api/urls", headers=headers)
        assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")


# Pages and limits


def test_limits_within_bounds(api: APIClient, alice: NewAccount) -> None:
    stock(alice.user, 101)
    for limit, items, pages in (("1", 1, 101), ("2", 2, 51), ("99", 99, 2), ("100", 100, 2), ("0020", 20, 6)):
        data = listed(api, limit=limit)
        assert len(data["urls"]) == items
        assert data["pagination"] == {"page": 1, "limit": int(limit), "total": 101, "pages": pages}


@pytest.mark.parametrize("name", ["page", "limit"])
def test_numbers_out_of_range_are_rejected(api: APIClient, name: str) -> None:
    verdicts = {
        "0": "min_value", "00": "min_value", "-1": "invalid", "-0": "invalid", "+1": "invalid", "": "invalid",
        " ": "invalid", " 1": "invalid", "1 ": "invalid", "1\n": "invalid", "abc": "invalid", "1.0": "invalid",
        "1e1": "invalid", "1_0": "invalid", "1,0": "invalid", "0x1": "invalid", "\uff11": "invalid",
        "\u0661": "invalid", "\u00b2": "invalid", "null": "invalid", "true": "invalid", "NaN": "invalid",
        "Infinity": "invalid", "2147483648": "invalid", "9223372036854775808": "invalid", "1" * 5000: "invalid",
        "1;--": "invalid", "1\0": "invalid", "999999999": "max_value",
    }  # fmt: skip
    for text, code in verdicts.items():
        assert broken_rules(api.get("/api/urls", {name: text})) == [(name, code)], text


def test_a_limit_of_101_is_rejected(api: APIClient) -> None:
    assert broken_rules(api.get("/api/urls", {"limit": 101})) == [("limit", "max_value")]


def test_at_most_one_million_links_precede_a_page(api: APIClient, make_link: MakeLink) -> None:
    make_link()
    assert listed(api, page=10_001, limit=100)["urls"] == []
    assert listed(api, page=1_000_001, limit=1)["urls"] == []
    assert broken_rules(api.get("/api/urls", {"page": 10_002, "limit": 100})) == [("page", "too_deep")]
    assert broken_rules(api.get("/api/urls", {"page": 1_000_002, "limit": 1})) == [("page", "max_value")]


def test_all_invalid_parameters_are_reported_together(api: APIClient) -> None:
    query = {"page": "x", "limit": "0", "search": "x" * 519, "isActive": "x", "sortBy": "x", "sortOrder": "x"}
    assert sorted(broken_rules(api.get("/api/urls", query))) == [
        ("isActive", "invalid"),
        ("limit", "min_value"),
        ("page", "invalid"),
        ("search", "max_length"),
        ("sortBy", "invalid_choice"),
        ("sortOrder", "invalid_choice"),
    ]


def test_a_page_beyond_the_end_is_empty(api: APIClient, alice: NewAccount) -> None:
    stock(alice.user, 5)
    for query in ({}, {"search": "stock"}, {"isActive": "true", "search": "stock"}):
        data = listed(api, page=4, limit=2, **query)
        assert data["urls"] == []
        assert data["pagination"]["page"] == 4
        assert data["pagination"]["total"] == total(api, **query)
