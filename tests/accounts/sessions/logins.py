"""Logins, and the use of the tokens that they return."""

from typing import Any

import pytest
from rest_framework.response import Response
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD, account

WRONG = {
    "success": False,
    "message": "The e-mail or the password is wrong.",
    "code": "not_authenticated",
}


@pytest.fixture
def alice(db: None) -> NewAccount:
    return account("alice@example.com")


def log_in(client: APIClient, email: str = "alice@example.com", password: str = PASSWORD) -> Response:
    return client.post("/api/auth/login", {"email": email, "password": password})


def use(client: APIClient, token: str, scheme: str = "Bearer") -> Response:
    return client.get("/api/urls", headers={"authorization": f"{scheme} {token}"})


def outcome(response: Response) -> tuple[int, dict[str, Any], str | None]:
    return response.status_code, response.json(), response.headers.get("WWW-Authenticate")


def disable(user: User) -> None:
    user.is_active = False
    user.save()
