"""Monthly link quotas."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from pytest_django.fixtures import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from links.models import CreatedLinks, Link
from links.storage.quotas import QuotaExceeded, spend_quota
from testing.accounts.accounts import key_client
from testing.threads import at_once

LINK = {"originalUrl": "https://example.com/page"}


@pytest.fixture(autouse=True)
def quotas(settings: Settings) -> None:
    settings.LINK_QUOTAS = {"free": 1, "pro": 3, "enterprise": 0}


def statuses(client: APIClient, count: int, **fields: Any) -> list[int]:
    return [client.post("/api/urls", {**LINK, **fields}).status_code for _ in range(count)]


def last_month() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_createdlinks SET month = month - interval '1 month'")


def test_the_quota_can_be_used_up_and_not_exceeded(api: APIClient) -> None:
    assert statuses(api, 5) == [201] * 3 + [429] * 2

    refused = api.post("/api/urls", LINK)
    wait = int(refused["Retry-After"])
    assert refused.json() == {
        "success": False,
        "message": "The plan allows no more links this month.",
        "code": "quota_exceeded",
        "retryAfter": wait,
    }
    assert 0 < wait <= 31 * 86_400
    limit, window = refused["RateLimit-Policy"].removeprefix('"attempts";q=').split(";w=")
    assert (limit, int(window) // 86_400 in {28, 29, 30, 31}) == ("3", True)
    assert (refused["RateLimit-Limit"], refused["RateLimit-Remaining"]) == ("3", "0")
    assert Link.objects.count() == 3


def test_the_quota_resets_each_month(api: APIClient) -> None:
    assert statuses(api, 4) == [201] * 3 + [429]
    last_month()
    assert statuses(api, 4) == [201] * 3 + [429]


def test_deleted_links_count_towards_the_quota(api: APIClient) -> None:
    link = api.post("/api/urls", LINK).json()["data"]["url"]
    api.delete(f"/api/urls/{link['_id']}")
    assert statuses(api, 3) == [201, 201, 429]


@pytest.mark.django_db(transaction=True)
def test_refused_links_use_no_quota(api: APIClient) -> None:
    assert statuses(api, 1, customCode="spring") == [201]
    assert statuses(api, 5, customCode="spring") == [409] * 5
    assert statuses(api, 5, customCode="x") == [400] * 5
    assert statuses(api, 5, domainId="01890000-0000-7000-8000-000000000000") == [404] * 5
    assert statuses(api, 3) == [201, 201, 429]


def test_a_replay_uses_no_quota(api: APIClient) -> None:
    sent = [api.post("/api/urls", LINK, headers={"idempotency-key": "k"}).status_code for _ in range(9)]
    assert sent == [201] * 9
    assert statuses(api, 3) == [201, 201, 429]


def test_quotas_are_per_owner_and_plan(api: APIClient, strange_api: APIClient, stranger: NewAccount) -> None:
    stranger.user.plan = "free"
    stranger.user.save()
    assert statuses(api, 4) == [201] * 3 + [429]
    assert statuses(strange_api, 2) == [201, 429]
    stranger.user.plan = "enterprise"
    stranger.user.save()
    assert statuses(strange_api, 4) == [201] * 4


def test_other_requests_ignore_the_quota(api: APIClient) -> None:
    assert statuses(api, 4) == [201] * 3 + [429]
    link = api.get("/api/urls").json()["data"]["urls"][0]
    assert api.put(f"/api/urls/{link['_id']}", {"title": "new"}).status_code == 200


def test_a_batch_is_charged_entirely_or_not_at_all(alice: NewAccount) -> None:
    spend_quota(owners=[alice.workspace.pk], quota=10, links=9)
    with pytest.raises(QuotaExceeded):
        spend_quota(owners=[alice.workspace.pk], quota=10, links=2)
    spend_quota(owners=[alice.workspace.pk], quota=10)
    assert CreatedLinks.objects.get().links == 10


def test_more_than_the_quota_at_once_is_refused_from_the_start(alice: NewAccount) -> None:
    with pytest.raises(QuotaExceeded):
        spend_quota(owners=[alice.workspace.pk], quota=10, links=11)
    assert CreatedLinks.objects.count() == 0


def test_without_a_quota_creating_is_one_statement(
    settings: Settings, api: APIClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """One query for the account, one for the link; inside a test's transaction also its savepoint and constraints."""
    settings.LINK_QUOTAS = {"free": 0, "pro": 0, "enterprise": 0}
    with django_assert_num_queries(6):
        assert statuses(api, 1) == [201]
    assert CreatedLinks.objects.count() == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("quota", [1, 25])
@pytest.mark.slow
def test_of_sixty_parallel_creations_exactly_the_quota_passes(
    settings: Settings, alice: NewAccount, quota: int
) -> None:
    settings.LINK_QUOTAS = {"pro": quota}

    results = at_once([lambda: statuses(key_client(alice.api_key), 1)[0]] * 60)

    assert sorted(results) == [201] * quota + [429] * (60 - quota)
    assert Link.objects.count() == quota
