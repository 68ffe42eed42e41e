"""Browsers with a session, and the access tokens that the dashboard's page gets for it."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import Client

from accounts.services import NewAccount

TOKEN, END = "/dashboard/session/token", "/dashboard/session/end"
OWN = {"origin": "http://sho.rt", "sec-fetch-site": "same-origin"}


def browser_of(account: NewAccount | None) -> Client:
    client = Client(enforce_csrf_checks=True, headers={"host": "sho.rt"})
    if account is not None:
        client.force_login(account.user)
    return client


@pytest.fixture
def browser(alice: NewAccount) -> Client:
    return browser_of(alice)


def request_token(browser: Client) -> HttpResponse:
    return browser.post(TOKEN, headers=OWN)


def token_of(browser: Client) -> str:
    response = request_token(browser)
    assert response.status_code == 200, response.content
    return response.json()["token"]
