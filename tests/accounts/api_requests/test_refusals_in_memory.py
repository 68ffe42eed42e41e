"""A refused request leaves nothing in memory: an exception that every request raised again would keep all of them."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from rest_framework.request import Request

from accounts.services import NewAccount
from testing.accounts.accounts import bearer_client

UNKNOWN = "01890000-0000-7000-8000-000000000000"


def living_requests() -> int:
    gc.collect()
    # `isinstance` would resolve weak proxies, whose objects may no longer exist.
    return sum(issubclass(type(thing), Request) for thing in gc.get_objects())


CALLS: list[tuple[str, str, dict[str, str], int]] = [
    ("post", "/api/urls", {"idempotency-key": "é"}, 400),
    ("patch", "/api/auth/me", {}, 400),
    ("get", "/api/urls", {"x-workspace": UNKNOWN}, 404),
    ("post", "/api/invitations/x/accept", {}, 404),
]
BODIES: dict[str, Any] = {"/api/auth/me": {"email": "another@example.com"}}


@pytest.mark.parametrize("call", CALLS, ids=str)
@pytest.mark.slow
def test_a_refused_request_is_not_kept(alice: NewAccount, call: tuple[str, str, dict[str, str], int]) -> None:
    method, path, headers, status = call
    client = bearer_client(alice.user)

    def refuse() -> None:
        response = getattr(client, method)(path, BODIES.get(path), headers=headers)
        assert response.status_code == status

    # The first call of a route may fill caches.
    refuse()
    before = living_requests()
    for _ in range(3):
        refuse()
    assert living_requests() <= before
