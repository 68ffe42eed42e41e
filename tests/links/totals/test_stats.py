from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from domains.models import Domain
from testing.analytics.clicks import drain
from tests.links.totals.sums import stats, sums

MakeLink = Callable[..., dict[str, Any]]


def test_an_empty_account(api: APIClient) -> None:
    assert stats(api) == {
        "success": True,
        "totalLinks": 0,
        "totalClicks": 0,
        "customDomains": 0,
        "accountAge": "today",
        "plan": "pro",
        "data": {"stats": {"totalUrls": 0, "activeUrls": 0, "totalClicks": 0, "topUrls": []}},
    }


def test_an_account_with_a_link(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    link = make_link(title="Title", customCode="spring", password=None)
    visitor.get("/spring")
    visitor.get("/" + link["shortCode"])
    drain()
    assert stats(api) == {
        "success": True,
        "totalLinks": 1,
        "totalClicks": 2,
        "customDomains": 0,
        "accountAge": "today",
        "plan": "pro",
        "data": {
            "stats": {
                "totalUrls": 1,
                "activeUrls": 1,
                "totalClicks": 2,
                "topUrls": [
                    {
                        "_id": link["_id"],
                        "title": "Title",
                        "originalUrl": "https://example.com/page",
                        "shortCode": link["shortCode"],
                        "shortUrl": "http://sho.rt/spring",
                        "clickCount": 2,
                        "status": "active",
                        "createdAt": link["createdAt"],
                    }
                ],
            }
        },
    }


def test_the_top_links_are_five_by_clicks_newest_first(
    api: APIClient, make_link: MakeLink, visitor: Client
) -> None:
    for title, clicks in (("a", 2), ("b", 0), ("c", 3), ("d", 2), ("e", 1), ("f", 0), ("g", 1)):
        link = make_link(title=title)
        for _ in range(clicks):
            visitor.get("/" + link["shortCode"])
    drain()
    top = stats(api)["data"]["stats"]["topUrls"]
    assert [(url["title"], url["clickCount"]) for url in top] == [
        ("c", 3),
        ("d", 2),
        ("a", 2),
        ("g", 1),
        ("e", 1),
    ]


@pytest.mark.parametrize("plan", ["free", "pro", "enterprise"])
def test_the_response_contains_the_plan(api: APIClient, alice: NewAccount, plan: str) -> None:
    User.objects.filter(pk=alice.user.pk).update(plan=plan)
    assert stats(api)["plan"] == plan


@pytest.mark.parametrize(
    ("age", "text"),
    [
        ("0 hours", "today"),
        ("23 hours", "today"),
        ("25 hours", "1 day"),
        ("12 days", "12 days"),
        ("29 days 23 hours", "29 days"),
        ("30 days", "1 month"),
        ("91 days", "3 months"),
        ("364 days", "12 months"),
        ("365 days", "1 year"),
        ("800 days", "2 years"),
    ],
)
def test_the_account_age_is_given_in_words(api: APIClient, alice: NewAccount, age: str, text: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE accounts_user SET created_at = now() - %s::interval WHERE id = %s", [age, alice.user.pk]
        )
    assert stats(api)["accountAge"] == text


def test_custom_domains_are_counted(api: APIClient, alice: NewAccount, stranger: NewAccount) -> None:
    for owner, host in ((alice, "a.example"), (alice, "b.example"), (stranger, "c.example")):
        Domain.objects.create(owner=owner.workspace, domain=host, host=host, status="active")
    assert stats(api)["customDomains"] == 2


def test_the_sums_follow_every_change(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    links = [make_link() for _ in range(3)]
    assert sums(api) == (3, 3, 0)
    for clicked in (0, 0, 1):
        assert visitor.get("/" + links[clicked]["shortCode"]).status_code == 302
    assert sums(api) == (3, 3, 3)
    assert visitor.head("/" + links[0]["shortCode"]).status_code == 302
    assert sums(api) == (3, 3, 3)
    for _ in range(2):
        api.put(f"/api/urls/{links[0]['_id']}", {"isActive": False})
        assert sums(api) == (3, 2, 3)
    assert visitor.get("/" + links[0]["shortCode"]).status_code == 410
    assert sums(api) == (3, 2, 3)
    api.put(f"/api/urls/{links[0]['_id']}", {"title": "New"})
    assert sums(api) == (3, 2, 3)
    api.delete(f"/api/urls/{links[0]['_id']}")
    assert sums(api) == (2, 2, 1)
    api.delete(f"/api/urls/{links[1]['_id']}")
    assert sums(api) == (1, 1, 0)
    api.delete(f"/api/urls/{links[1]['_id']}")
    assert sums(api) == (1, 1, 0)


def test_a_capped_links_clicks_are_counted_once(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    link = make_link(restrictions={"maxClicks": 2})
    statuses = [visitor.get("/" + link["shortCode"]).status_code for _ in range(4)]
    assert statuses == [302, 302, 410, 410]
    assert sums(api) == (1, 1, 2)


def test_strangers_links_are_not_counted(
    api: APIClient, strange_api: APIClient, make_link: MakeLink, visitor: Client
) -> None:
    link = make_link(title="secret")
    visitor.get("/" + link["shortCode"])
    strange_api.post("/api/urls", {"originalUrl": "https://example.com/", "title": "mine"})
    assert sums(strange_api) == (1, 1, 0)
    assert [url["title"] for url in stats(strange_api)["data"]["stats"]["topUrls"]] == ["mine"]
    assert sums(api) == (1, 1, 1)
    assert [url["title"] for url in stats(api)["data"]["stats"]["topUrls"]] == ["secret"]


def test_a_token_reads_as_a_key_does(bearer: APIClient, make_link: MakeLink) -> None:
    make_link()
    assert sums(bearer) == (1, 1, 0)


@pytest.mark.django_db
def test_reading_requires_a_credential(anonymous: APIClient) -> None:
    for headers in ({}, {"x-api-key": "sl_live_" + "0" * 38}, {"authorization": "Bearer x"}):
        response = anonymous.get("/api/urls/stats", headers=headers)
        assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_statistics_are_only_read(api: APIClient, method: str) -> None:
    response = getattr(api, method)("/api/urls/stats", {})
    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize("items", [1, 3])
def test_the_number_of_queries_does_not_grow(
    api: APIClient, make_link: MakeLink, django_assert_num_queries: Any, items: int
) -> None:
    for _ in range(items):
        make_link()
    with django_assert_num_queries(4):  # the credential, the sums, the top links, the domains
        assert len(stats(api)["data"]["stats"]["topUrls"]) == items
