"""Forms of the pages of accounts, as a browser sends them."""

from __future__ import annotations

from typing import Any

from django.test import Client

from testing.accounts.accounts import PASSWORD

NEW = "another good password"


def submit(client: Client, path: str, **fields: str) -> Any:
    if "csrftoken" not in client.cookies:
        client.get("/accounts/login/")
    return client.post(
        f"/accounts/{path}", {"csrfmiddlewaretoken": client.cookies["csrftoken"].value, **fields}
    )


def log_in(client: Client, email: str = "alice@example.com", password: str = PASSWORD) -> Any:
    return submit(client, "login/", login=email, password=password)


def change(client: Client, old: str = PASSWORD, new: str = NEW, again: str = NEW) -> Any:
    return submit(client, "password/change/", oldpassword=old, password1=new, password2=again)
