"""The provider of identities, and logins through it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from shortener_project.configuration.sign_in import provider_settings
from testing.polling import DEADLINE
from testing.sign_in.oidc import server
from testing.sign_in.oidc.running import Provider, provider

ADA = {"email": "ada@example.com", "email_verified": True, "given_name": "Ada", "family_name": "Lovelace"}


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with provider("http://sho.rt/accounts/oidc/callback/") as running:
        yield running


def use(settings: Settings, issuer: str) -> None:
    cache.clear()
    settings.OIDC_SECONDS = DEADLINE
    settings.OIDC_ISSUER = issuer
    settings.SOCIALACCOUNT_PROVIDERS = provider_settings(issuer, server.CLIENT_ID, server.CLIENT_SECRET)


@pytest.fixture
def issuer(running: Provider, settings: Settings) -> Provider:
    use(settings, running.issuer)
    running.say(**ADA)
    running.behave()
    return running


def provider_url(response: Any) -> str:
    """The URL of the provider that the page links to."""
    assert response.status_code == 200
    match = re.search(r'<meta http-equiv="refresh" content="0; url=([^"]+)">', response.content.decode())
    assert match is not None
    return unescape(match[1])


def at_provider(response: Any) -> str:
    """Logs in at the provider, and returns the address to which it sends the browser back."""
    url = provider_url(response)
    parts = urlsplit(url)
    login = f"{parts.scheme}://{parts.netloc}/login/"
    with requests.Session() as session:
        session.get(login, timeout=DEADLINE)
        fields = {
            "username": server.NAME,
            "password": server.PASSWORD,
            "csrfmiddlewaretoken": session.cookies["provider_csrf"],
        }
        session.post(login, fields, timeout=DEADLINE, allow_redirects=False)
        answer = session.get(url, timeout=DEADLINE, allow_redirects=False)
    assert answer.status_code == 302, answer.text
    return answer.headers["Location"].removeprefix("http://sho.rt")


def log_in(client: Client, **fields: str) -> Any:
    return client.get(at_provider(client.post("/accounts/oidc/login/", fields)))
