from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain, DomainStatus
from testing.analytics.clicks import drain

HOST = "go.brand.example"
# Recent enough that the pipeline does not treat them as clock errors.
DAYS = [(datetime.now(UTC).date() - timedelta(days=8 - place)).isoformat() for place in range(4)]


@pytest.fixture
def domain(alice: NewAccount) -> Domain:
    domain = Domain.objects.create(
        owner=alice.workspace, domain="brand.example", subdomain="go", host=HOST, status=DomainStatus.ACTIVE
    )
    Domain.objects.update(created_at=f"{DAYS[0]}T12:00Z")
    return domain


def read_unknown_codes(client: APIClient, domain: Domain, **query: str) -> Any:
    return client.get(f"/api/domains/{domain.public_id}/analytics", query)


def test_owner_sees_unknown_codes_of_a_domain_by_day(visitor: Client, api: APIClient, domain: Domain) -> None:
    for day, host, hits in ((DAYS[1], HOST, 2), (DAYS[3], HOST, 1), (DAYS[3], "sho.rt", 3)):
        with time_machine.travel(f"{day}T23:59Z"):
            for _ in range(hits):
                assert visitor.get("/nothing", headers={"host": host}).status_code == 404
    with time_machine.travel(f"{DAYS[3]}T23:59:30Z"):
        drain()
        assert read_unknown_codes(api, domain).json() == {
            "success": True,
            "data": {
                "unknownCodes": 3,
                "unknownCodesByDate": [
                    {"date": day, "hits": hits} for day, hits in zip(DAYS, (0, 2, 0, 1), strict=True)
                ],
            },
        }
        assert (
            read_unknown_codes(api, domain, startDate=DAYS[2], endDate=DAYS[3]).json()["data"]["unknownCodes"]
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
    assert read_unknown_codes(api, domain, **query).status_code == 400


def test_stranger_gets_404(
    strange_api: APIClient, anonymous: APIClient, api: APIClient, domain: Domain
) -> None:
    assert read_unknown_codes(strange_api, domain).status_code == 404
    assert read_unknown_codes(anonymous, domain).status_code == 401
    assert [
        api.get(f"/api/domains/{identifier}/analytics").status_code for identifier in ("base", "unknown")
    ] == [
        404,
        404,
    ]
