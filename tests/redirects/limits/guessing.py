"""Clients that guess codes."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.models import Workspace
from domains.models import Domain
from testing.clock import Clock
from testing.visitors.agents import FIREFOX

HERE, SAME_NETWORK, ELSEWHERE = "203.0.113.5", "203.0.113.77", "198.51.100.5"


@pytest.fixture(autouse=True)
def limit(settings: Settings, db: None) -> None:
    settings.UNKNOWN_CODE_LIMIT = 60


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("links.guess_counts.monotonic", clock)
    return clock


def browser(address: str = HERE, **headers: str) -> Client:
    return Client(headers={"host": "sho.rt", "user-agent": FIREFOX, **headers}, REMOTE_ADDR=address)


def guess(count: int, visitor: Client | None = None) -> list[int]:
    visitor = visitor or browser()
    return [visitor.get(f"/guess{number}").status_code for number in range(count)]


def domain_with_fallback(owner: Workspace) -> Domain:
    """``go.brand.example``, which redirects the visitors of unknown codes."""
    return Domain.objects.create(
        owner=owner,
        domain="go.brand.example",
        host="go.brand.example",
        status="active",
        not_found_url="https://brand.example/lost",
    )
