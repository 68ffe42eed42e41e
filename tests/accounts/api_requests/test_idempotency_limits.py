"""Stored responses are limited in size, and those of dry runs are not stored."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.api_requests import idempotency
from accounts.models import StoredResponse
from accounts.services import NewAccount
from links.models import Link
from tests.accounts.api_requests.idempotent import LINK, count_stored, create, is_replayed


def import_call(client: APIClient, key: str, *, dry_run: bool) -> Any:
    body = {"content": "originalUrl\nhttps://example.com/\n", "dryRun": dry_run}
    return create(client, key, body, "/api/urls/import")


def test_the_response_of_a_dry_run_is_not_stored(api: APIClient) -> None:
    for _ in range(2):
        response = import_call(api, "k", dry_run=True)
        assert (response.status_code, is_replayed(response)) == (200, False)
    assert count_stored() == 0
    # It has not used the key either.
    first, again = (import_call(api, "k", dry_run=False) for _ in range(2))
    assert (is_replayed(first), is_replayed(again), again.content) == (False, True, first.content)
    assert import_call(api, "k", dry_run=True).json()["data"]["dryRun"] is True
    assert (count_stored(), Link.objects.count()) == (1, 1)


@pytest.fixture
def little_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Space for one of the responses below and part of a second one."""
    monkeypatch.setattr(idempotency, "MB", 12)


def fill(client: APIClient) -> list[int]:
    return [create(client, f"fill-{n}", {"originalUrl": LINK["originalUrl"]}).status_code for n in range(4)]


def test_the_stored_responses_of_an_account_have_a_size_limit(
    little_storage: None, api: APIClient, strange_api: APIClient
) -> None:
    assert fill(api) == [201, 201, 429, 429]
    refused = create(api, "another")
    assert refused.json() == {
        "success": False,
        "code": "idempotency_full",
        "message": "The stored responses of this account's Idempotency-Keys have reached their size limit. "
        "Send the request without a key, or retry later.",
        "retryAfter": int(refused.headers["Retry-After"]),
    }
    assert 86_000 < int(refused.headers["Retry-After"]) <= 86_400
    # Nothing was created, stored responses are still replayed, and requests without a key succeed.
    assert Link.objects.count() == 2
    assert is_replayed(create(api, "fill-0", {"originalUrl": LINK["originalUrl"]}))
    assert api.post("/api/urls", LINK).status_code == 201
    assert create(strange_api, "k", {"originalUrl": LINK["originalUrl"]}).status_code == 201


def test_space_is_available_again_after_a_day(little_storage: None, api: APIClient) -> None:
    fill(api)
    StoredResponse.objects.update(created_at=F("created_at") - timedelta(hours=24, minutes=1))
    assert create(api, "another").status_code == 201


def test_responses_of_other_processes_count_before_a_refusal_and_after_a_minute(
    little_storage: None, api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert create(api, "first", {"originalUrl": LINK["originalUrl"]}).status_code == 201
    # As if another process had stored it, which this process does not know yet.
    StoredResponse.objects.create(owner=alice.user, key_digest=b"x" * 32, sealed=b"x" * 2_000)
    assert create(api, "second", {"originalUrl": LINK["originalUrl"]}).status_code == 201
    monkeypatch.setattr(idempotency, "REFRESH_SECONDS", 0.0)
    assert create(api, "third", {"originalUrl": LINK["originalUrl"]}).status_code == 429
    # Responses deleted since do not cause a refusal.
    StoredResponse.objects.filter(key_digest=b"x" * 32).delete()
    StoredResponse.objects.exclude(pk=StoredResponse.objects.earliest("pk").pk).delete()
    assert create(api, "third", {"originalUrl": LINK["originalUrl"]}).status_code == 201


def test_zero_means_no_limit(little_storage: None, api: APIClient, settings: Settings) -> None:
    settings.IDEMPOTENCY_MB = 0
    assert fill(api) == [201] * 4
