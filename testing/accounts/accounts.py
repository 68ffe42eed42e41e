"""Accounts, and clients of the API with their credentials."""

from __future__ import annotations

from typing import Any

import jwt
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount, create_account
from accounts.sessions.lifecycle import start_session
from accounts.sessions.tokens import TokenPair

PASSWORD = "correct horse battery"


def account(email: str, plan: str = "free") -> NewAccount:
    return create_account(email=email, password=PASSWORD, plan=plan, first_name="Ada", last_name="Lovelace")


def key_client(api_key: str) -> APIClient:
    """A client of the service's own host that authenticates with an API key."""
    return APIClient(headers={"host": "sho.rt", "x-api-key": api_key})


def log_in(user: User) -> TokenPair:
    """The tokens of a new session. Hashes no password."""
    tokens = start_session(user)
    assert tokens is not None
    return tokens


def token_client(access_token: str) -> APIClient:
    """A client of the service's own host that authenticates with an access token."""
    return APIClient(headers={"host": "sho.rt", "authorization": f"Bearer {access_token}"})


def bearer_client(user: User) -> APIClient:
    return token_client(log_in(user).access)


def key_status(api_key: str) -> int:
    """The status of a request with this key."""
    status: int = key_client(api_key).get("/api/urls").status_code
    return status


def works(access_token: str) -> bool:
    status = token_client(access_token).get("/api/urls").status_code
    assert status in {200, 401}, status
    return status == 200


def claims_of(token: str) -> dict[str, Any]:
    """What the token says, whoever signed it."""
    return dict(jwt.decode(token, options={"verify_signature": False}))
