"""Counts of links by tag, domain and status: ``GET /api/urls/count``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain, DomainStatus
from links.models import ClickCounter, Link, LinkBan
from testing.accounts.keys import scoped_client
from testing.refusals import broken_rules

MakeLink = Callable[..., dict[str, Any]]
# A filter that every link matches, so that each link is read.
EVERY = {"search": "example"}


def counted(api: APIClient, **query: str) -> dict[str, Any]:
    response = api.get("/api/urls/count", query)
    assert response.status_code == 200, response.content
    data: dict[str, Any] = response.json()["data"]
    return data


def groups(api: APIClient, group_by: str, **query: str) -> dict[str, int]:
    """Asserts that roll-ups and filters agree, and that the largest groups come first."""
    plain, filtered = (counted(api, groupBy=group_by, **query, **more) for more in ({}, EVERY))
    assert plain == filtered
    assert plain["groupCount"] == len(plain["groups"])
    assert plain["groups"] == sorted(plain["groups"], key=lambda group: (-group["urls"], group["value"]))
    return {group["value"]: group["urls"] for group in plain["groups"]}


def test_links_are_counted_with_the_filters_of_the_list(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    for number in range(3):
        make_link(tags=["news"] if number else [], isActive=number < 2)
    make_link(isArchived=True)
    strange_api.post("/api/urls", {"originalUrl": "https://example.com/"})
    assert counted(api) == {"total": 3}
    assert counted(api, archived="any") == {"total": 4}
    assert counted(api, tags="news") == {"total": 2}
    assert counted(api, isActive="false") == counted(api, status="disabled") == {"total": 1}
    assert broken_rules(api.get("/api/urls/count?groupBy=title")) == [("groupBy", "invalid_choice")]
    assert broken_rules(api.get("/api/urls/count?limit=1001")) == [("limit", "max_value")]


def test_links_are_counted_by_tag(api: APIClient, make_link: MakeLink) -> None:
    for tags in (["News"], ["news", "sale"], []):
        make_link(tags=tags)
    make_link(tags=["sale", "old"], isArchived=True)
    assert groups(api, "tag") == {"news": 2, "sale": 1}
    assert groups(api, "tag", archived="any") == {"news": 2, "sale": 2, "old": 1}
    assert groups(api, "tag", archived="yes") == {"sale": 1, "old": 1}
    largest = counted(api, groupBy="tag", limit="1")
    assert largest == {"total": 3, "groups": [{"value": "news", "urls": 2}], "groupCount": 2}


def test_links_are_counted_by_domain(api: APIClient, make_link: MakeLink, brand: Domain) -> None:
    identifier = str(brand.public_id)
    for number in range(3):
        make_link(domainId=identifier if number else "base")
    make_link(domainId="base", isArchived=True)
    assert groups(api, "domain") == {"base": 1, identifier: 2}
    assert groups(api, "domain", archived="any") == {"base": 2, identifier: 2}
    assert groups(api, "domain", domainId=identifier) == {identifier: 2}


def test_links_are_counted_by_status(
    api: APIClient, make_link: MakeLink, brand: Domain, alice: NewAccount
) -> None:
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    for fields in (
        {},
        {},
        {"startsAt": later},
        {"expiresAt": "2001-01-01"},
        {"expiresAt": later},
        {"isActive": False},
        {"title": "used up", "restrictions": {"maxClicks": 1}},
        {"title": "banned"},
        {"domainId": str(brand.public_id)},
        {"isArchived": True},
    ):
        make_link(**fields)
    ClickCounter.objects.filter(link__title="used up").update(clicks=1)
    LinkBan.objects.create(link=Link.objects.get(title="banned"))
    Domain.objects.update(status=DomainStatus.INACTIVE)
    expected = {
        "active": 3,
        "scheduled": 1,
        "expired": 1,
        "disabled": 1,
        "limit_reached": 1,
        "banned": 1,
        "domain_inactive": 1,
    }
    assert groups(api, "status") == expected
    assert groups(api, "status", archived="any") == {**expected, "active": 4}
    assert groups(api, "status", isActive="false") == {"disabled": 1}
    for status, number in expected.items():
        assert counted(api, status=status) == {"total": number}


def test_limited_keys_count_their_links(
    alice: NewAccount, api: APIClient, make_link: MakeLink, brand: Domain
) -> None:
    make_link(tags=["a"])
    make_link(tags=["a"], domainId=str(brand.public_id))
    only_own = scoped_client(alice.workspace, alice.user, only_own=True)
    only_own.post("/api/urls", {"originalUrl": "https://example.com/", "tags": ["b"]})
    on_brand = scoped_client(alice.workspace, alice.user, domain_id=brand.pk)
    assert (counted(only_own), counted(only_own, **EVERY)) == ({"total": 1}, {"total": 1})
    assert groups(only_own, "tag") == {"b": 1}
    assert groups(on_brand, "tag") == {"a": 1}
    assert groups(on_brand, "domain") == {str(brand.public_id): 1}


def test_more_links_than_can_be_read_are_refused(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        make_link(tags=["a"], isActive=number > 0)
    monkeypatch.setattr("links.grouped_counts.COUNT_LIMIT", 2)
    assert broken_rules(api.get("/api/urls/count", {"groupBy": "tag", **EVERY})) == [("groupBy", "too_many")]
    assert counted(api, groupBy="tag", isActive="true")["total"] == 2
    # Roll-ups have these, and of the statuses only links are read that may be closed.
    assert counted(api, groupBy="tag")["total"] == counted(api, groupBy="status")["total"] == 3


@pytest.mark.parametrize("group_by", ["tag", "domain", "status"])
def test_the_number_of_queries_does_not_grow(
    group_by: str, api: APIClient, make_link: MakeLink, django_assert_num_queries: Any
) -> None:
    for number in range(3):
        make_link(tags=[f"tag {number}"], isActive=number > 0)
        # A status takes one more, for the banned links.
        more = group_by == "status"
        with django_assert_num_queries(3 + more):
            counted(api, groupBy=group_by)
        with django_assert_num_queries(2 + more):
            counted(api, groupBy=group_by, **EVERY)
