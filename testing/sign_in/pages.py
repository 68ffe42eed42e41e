"""Browsers on the pages of accounts, and who is logged in there."""

from __future__ import annotations

from django.test import Client


def browser() -> Client:
    return Client(headers={"host": "sho.rt"})


def strict_browser(address: str = "203.0.113.5", **headers: str) -> Client:
    """Return a client whose forms need the CSRF token, as those of a real browser."""
    return Client(enforce_csrf_checks=True, headers={"host": "sho.rt", **headers}, REMOTE_ADDR=address)


def logged_in(client: Client) -> bool:
    return client.get("/accounts/").status_code == 200


def logged_in_as(client: Client) -> str | None:
    """The address of the account."""
    response = client.get("/accounts/")
    return response.context["user"].email if response.status_code == 200 else None
