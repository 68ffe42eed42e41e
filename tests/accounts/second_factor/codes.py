"""Logins with a second factor."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from rest_framework.test import APIClient

from testing.accounts.accounts import PASSWORD


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    """A stopped clock: otherwise a code could expire between its computation and its use."""
    with time_machine.travel(datetime.now(UTC), tick=False) as traveller:
        yield traveller


def log_in(client: APIClient, email: str = "alice@example.com", **fields: Any) -> Any:
    return client.post("/api/auth/login", {"email": email, "password": PASSWORD, **fields})


def outcome(response: Any) -> tuple[int, str | None]:
    return response.status_code, response.json().get("code")
