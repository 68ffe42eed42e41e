"""Logins with a second factor."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient

from testing.accounts.accounts import PASSWORD


def log_in(client: APIClient, email: str = "alice@example.com", **fields: Any) -> Any:
    return client.post("/api/auth/login", {"email": email, "password": PASSWORD, **fields})


def outcome(response: Any) -> tuple[int, str | None]:
    return response.status_code, response.json().get("code")
