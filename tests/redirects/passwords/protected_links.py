"""Links with a password, and what tests do with their form."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.hashers import check_password
from django.http import HttpResponse
from django.test import Client

from accounts import password_hashing
from testing.pages.html import parse
from testing.visitors.agents import FIREFOX

DESTINATION = "https://example.com/page"
HERE, SAME_NETWORK, ELSEWHERE = "203.0.113.5", "203.0.113.77", "198.51.100.5"


@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record every password that is hashed for a comparison."""
    hashed: list[str] = []

    def spy(password: str, encoded: str) -> bool:
        hashed.append(password)
        return check_password(password, encoded)

    monkeypatch.setattr(password_hashing, "check_password", spy)
    return hashed


def browser(address: str = HERE, **headers: str) -> Client:
    headers = {"host": "sho.rt", "user-agent": FIREFOX, **headers}
    return Client(enforce_csrf_checks=True, headers=headers, REMOTE_ADDR=address)


def send(browser: Client, path: str, password: str, **extra: Any) -> HttpResponse:
    """Open the page, and submit the form with its token."""
    token = parse(browser.get(path, **extra)).value_of("csrfmiddlewaretoken")
    body = urlencode({"csrfmiddlewaretoken": token, "password": password})
    return browser.post(path, body, content_type="application/x-www-form-urlencoded", **extra)


def tokens(count: int, path: str, address: str = HERE) -> tuple[Client, str]:
    visitor = browser(address)
    return visitor, parse(visitor.get(path)).value_of("csrfmiddlewaretoken")


def fail(path: str, times: int, address: str = HERE) -> list[int]:
    """Send wrong passwords from one browser, and return the statuses."""
    visitor = browser(address)
    form = {
        "csrfmiddlewaretoken": parse(visitor.get(path)).value_of("csrfmiddlewaretoken"),
        "password": "wrong",
    }
    return [visitor.post(path, form).status_code for _ in range(times)]
