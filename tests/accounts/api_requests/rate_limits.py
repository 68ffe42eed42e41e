"""Requests that count towards a rate limit."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from testing.attempts import slow_down_clock

HERE, NEXT_DOOR, ELSEWHERE = "203.0.113.5", "203.0.113.77", "198.51.100.5"


@pytest.fixture(autouse=True)
def limits(settings: Settings, db: None) -> None:
    """Minutes pass only if the test says so, however long the machine takes."""
    slow_down_clock()
    settings.RATE_LIMITS = {"free": 3, "pro": 5, "enterprise": 0}
    settings.RATE_LIMIT_ANONYMOUS = 4


def statuses(client: APIClient, count: int, path: str = "/api/urls/domains/available") -> list[int]:
    return [client.get(path).status_code for _ in range(count)]


def from_address(address: str, **headers: str) -> APIClient:
    client = APIClient(headers={"host": "sho.rt", **headers})
    client.defaults["REMOTE_ADDR"] = address
    return client
