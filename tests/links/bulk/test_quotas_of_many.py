"""Monthly link quotas in bulk calls."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from links.bulk import creation
from links.models import CreatedLinks, Link
from links.transfer import imports
from testing.accounts.accounts import key_client
from testing.links.many import UNKNOWN_ID, URL, create_many, imported, post_when_admitted, results
from testing.threads import at_once

GOOD, TAKEN, BAD = {"originalUrl": URL}, {"originalUrl": URL, "customCode": "taken"}, {"originalUrl": "x"}
UNKNOWN_DOMAIN = {"originalUrl": URL, "domainId": UNKNOWN_ID}


@pytest.fixture(autouse=True)
def quotas(settings: Settings) -> None:
    settings.LINK_QUOTAS = {"free": 1, "pro": 4, "enterprise": 0}


def statuses(client: APIClient, *urls: dict[str, Any]) -> list[int]:
    return [verdict["status"] for verdict in create_many(client, list(urls))]


def statuses_of_import(client: APIClient, *urls: dict[str, Any], dry_run: bool = False) -> list[int]:
    content = "\n".join(json.dumps(url) for url in urls)
    return [verdict["status"] for verdict in imported(client, content, dry_run=dry_run, format="own")]


def created(account: NewAccount) -> int:
    return CreatedLinks.objects.get(owner=account.workspace).links


def test_the_first_that_can_be_stored_are_stored(api: APIClient, alice: NewAccount) -> None:
    api.post("/api/urls", TAKEN)
    sent = [GOOD, TAKEN, BAD, UNKNOWN_DOMAIN, GOOD, GOOD, GOOD, TAKEN, BAD]

    assert statuses(api, *sent) == [201, 409, 400, 404, 201, 201, 429, 429, 400]
    assert (Link.objects.count(), created(alice)) == (4, 4)


def test_a_refusal_is_that_of_the_single_call(api: APIClient) -> None:
    verdicts = create_many(api, [GOOD] * 5)

    assert verdicts[4] == {"index": 4, "status": 429, **api.post("/api/urls", GOOD).json()}
    assert verdicts[4]["code"] == "quota_exceeded"
    assert statuses(api, GOOD, TAKEN, BAD) == [429, 429, 400]


def test_refused_links_use_no_quota(api: APIClient, alice: NewAccount) -> None:
    assert statuses(api, TAKEN) == [201]
    assert statuses(api, *[TAKEN, BAD, UNKNOWN_DOMAIN] * 3) == [409, 400, 404] * 3
    assert created(alice) == 1
    assert statuses(api, *[GOOD] * 4) == [201] * 3 + [429]


def test_a_refused_link_keeps_held_codes(api: APIClient, strange_api: APIClient) -> None:
    link = create_many(api, [TAKEN])[0]["url"]
    api.delete(f"/api/urls/{link['_id']}")

    assert statuses(api, GOOD, GOOD, GOOD, TAKEN) == [201, 201, 201, 429]
    assert statuses(strange_api, TAKEN) == [409]


def test_quota_freed_by_a_lost_code_is_used(api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    api.post("/api/urls", TAKEN)
    # As if the code had been free at the time of the check.
    monkeypatch.setattr(creation, "refusals", lambda *_: {})

    assert statuses(api, TAKEN, GOOD, TAKEN, GOOD, GOOD, GOOD) == [409, 201, 409, 201, 201, 429]


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_a_dry_run_predicts_the_import(api: APIClient, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr(imports, "MAX_ITEMS", batch)
    api.post("/api/urls", TAKEN)
    own = [{"originalUrl": URL, "customCode": f"own{n}"} for n in range(3)]
    sent = [own[0], TAKEN, BAD, own[1], own[1], own[2], GOOD, TAKEN]
    expected = [201, 409, 400, 201, 409, 201, 429, 429]

    assert statuses_of_import(api, *sent, dry_run=True) == expected
    assert Link.objects.count() == 1
    assert statuses_of_import(api, *sent) == expected
    assert Link.objects.count() == 4
    assert (
        statuses_of_import(api, *sent, dry_run=True)
        == statuses_of_import(api, *sent)
        == [429, 429, 400] + [429] * 5
    )


def test_a_quota_that_was_lowered_leaves_nothing(settings: Settings, api: APIClient) -> None:
    assert statuses(api, *[GOOD] * 4) == [201] * 4
    settings.LINK_QUOTAS = {"pro": 2}
    assert statuses(api, GOOD) == statuses_of_import(api, GOOD, dry_run=True) == [429]


def test_a_thousand_take_as_many_statements_as_ten(settings: Settings, api: APIClient) -> None:
    def statements(count: int, quota: int) -> int:
        settings.LINK_QUOTAS = {"pro": quota}
        with CaptureQueriesContext(connection) as queries:
            verdicts = statuses(api, *[GOOD] * count)
        assert {*verdicts} == {201, 429}
        return len(queries)

    assert statements(10, 5) == statements(1000, 500)


@pytest.mark.django_db(transaction=True)
def test_of_parallel_calls_exactly_the_quota_passes(settings: Settings, alice: NewAccount) -> None:
    settings.LINK_QUOTAS = {"pro": 25}

    def create_eight() -> list[int]:
        client = key_client(alice.api_key)
        response = post_when_admitted(client, "/api/urls/bulk", {"urls": [GOOD] * 8})
        return [result["status"] for result in results(response, "created")]

    calls = at_once([create_eight] * 8)

    assert sorted(status for call in calls for status in call) == [201] * 25 + [429] * 39
    assert (Link.objects.count(), created(alice)) == (25, 25)
