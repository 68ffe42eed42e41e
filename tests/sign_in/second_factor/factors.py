"""Accounts with a second factor, in a browser."""

from __future__ import annotations

from typing import Any

from django.test import Client

from testing.accounts.accounts import PASSWORD
from testing.sign_in.totp import code


def log_in(client: Client) -> Any:
    return client.post("/accounts/login/", {"login": "alice@example.com", "password": PASSWORD})


def confirm(client: Client) -> None:
    """Changes of second factors require the password once more."""
    response = client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert response.status_code == 302


def set_up(client: Client) -> str:
    """Returns the secret of the new authenticator app."""
    log_in(client)
    confirm(client)
    page = client.get("/accounts/2fa/totp/activate/")
    secret: str = page.context["form"].secret
    response = client.post("/accounts/2fa/totp/activate/", {"code": code(secret)})
    assert (response.status_code, response["Location"]) == (302, "/accounts/2fa/recovery-codes/")
    return secret
