"""Domains that tests verify."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from domains import services
from testing.domains.domains import status_of, verify

HOST = "go.brand.example"
CHALLENGE = f"_shortener-challenge.{HOST}"
Claim = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "VERIFICATIONS", services.Limit(attempts=200, seconds=3600))


def token_of(domain: dict[str, Any]) -> str:
    return domain["dnsRecords"][0]["value"]


def checks(client: APIClient, domain: dict[str, Any]) -> list[dict[str, Any]]:
    """The checks of a refused verification. Asserts that the domain is unchanged."""
    response = verify(client, domain)
    assert response.status_code == 400, response.content
    body = response.json()
    assert (body["code"], body["message"]) == (
        "dns_not_configured",
        "The domain's DNS is not configured yet.",
    )
    assert body.keys() == {"success", "message", "code", "data"}
    assert status_of(client, domain) == "pending"
    return body["data"]["checks"]


def reasons(client: APIClient, domain: dict[str, Any]) -> list[str | None]:
    return [check["reason"] for check in checks(client, domain)]
