from __future__ import annotations

from typing import Any

import pytest
import time_machine
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain, DomainStatus
from tests.clicks import drain

HOST = "go.brand.example"


@pytest.fixture
def domain(alice: NewAccount) -> Domain:
    made = Domain.objects.create(
        owner=alice.user, domain="brand.example", subdomain="go", host=HOST, status=DomainStatus.ACTIVE
    )
    Domain.objects.update(created_at="2026-03-01T12:00Z")
    return made


def told(client: APIClient, domain: Domain, **query: str) -> Any:
    return client.get(f"/api/domains/{domain.public_id}/analytics", query)


def test_owners_are_told_what_their_domain_was_asked_for_in_vain(
    visitor: Client, api: APIClient, domain: Domain
) -> None:
    for day, host, hits in (("02", HOST, 2), ("04", HOST, 1), ("04", "sho.rt", 3)):
        with time_machine.travel(f"2026-03-{day}T23:59Z"):
            for _ in range(hits):
                assert visitor.get("/nothing", headers={"host": host}).status_code == 404
    with time_machine.travel("2026-03-04T23:59:30Z"):
        drain()
        assert told(api, domain).json() == {
            "success": True,
            "data": {
                "unknownCodes": 3,
                "unknownCodesByDate": [
                    {"date": "2026-03-01", "hits": 0},
                    {"date": "2026-03-02", "hits": 2},
                    {"date": "2026-03-03", "hits": 0},
                    {"date": "2026-03-04", "hits": 1},
                ],
            },
        }
        assert (
            told(api, domain, startDate="2026-03-03", endDate="2026-03-04").json()["data"]["unknownCodes"]
            == 1
        )


@pytest.mark.parametrize(
    "query",
    [
        {"startDate": "yesterday"},
        {"endDate": "2026-02-30"},
        {"startDate": "2026-03-02", "endDate": "2026-03-01"},
        {"startDate": "1900-01-01"},
    ],
)
def test_bad_dates_are_refused(api: APIClient, domain: Domain, query: dict[str, str]) -> None:
    assert told(api, domain, **query).status_code == 400


def test_strangers_are_told_nothing(
    strange_api: APIClient, anonymous: APIClient, api: APIClient, domain: Domain
) -> None:
    assert told(strange_api, domain).status_code == 404
    assert told(anonymous, domain).status_code == 401
    assert [api.get(f"/api/domains/{each}/analytics").status_code for each in ("base", "unknown")] == [
        404,
        404,
    ]
