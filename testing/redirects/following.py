"""Links that tests follow, and what they expect of a redirect."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.services import NewAccount
from domains.models import Domain, DomainStatus

DESTINATION = "https://example.com/page"
PAST, FUTURE = "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
CUSTOM_HOST = "go.example.net"


@pytest.fixture
def domain(alice: NewAccount) -> Domain:
    return custom_domain(alice)


@pytest.fixture
def follow(visitor: Client) -> Callable[[dict[str, Any]], tuple[int, str | None]]:
    """Returns the status and, of a refusal, its reason."""

    def status(link: dict[str, Any]) -> tuple[int, str | None]:
        response = visitor.get(f"/{link['shortCode']}", headers={"accept": "application/json"})
        return response.status_code, response.json()["reason"] if response.content else None

    return status


def custom_domain(
    owner: NewAccount, host: str = CUSTOM_HOST, status: DomainStatus = DomainStatus.ACTIVE
) -> Domain:
    subdomain, _, name = host.partition(".")
    return Domain.objects.create(
        owner=owner.workspace, domain=name, subdomain=subdomain, host=host, status=status
    )


def redirect_headers(location: str, cache_control: str = "private, no-store") -> dict[str, str]:
    return {
        "Location": location,
        "Cache-Control": cache_control,
        "X-Robots-Tag": "noindex",
        "Content-Length": "0",
    }
