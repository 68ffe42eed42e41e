"""Forms that another site submits with the session of a logged-in operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import User
from links.models import Link
from testing.accounts.accounts import PASSWORD
from testing.accounts.fixtures import operator as operator
from testing.pages.html import parse
from testing.visitors.agents import FIREFOX

MakeLink = Callable[..., dict[str, Any]]


@pytest.fixture
def browser(operator: User) -> Client:
    """The browser of a logged-in operator."""
    client = Client(enforce_csrf_checks=True, headers={"host": "sho.rt", "user-agent": FIREFOX})
    client.force_login(operator)
    return client


@pytest.mark.parametrize("form", ["link", "login", "change"])
@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize(
    ("has_token", "headers"),
    [
        (False, {}),
        (False, {"origin": "http://evil.example"}),
        (True, {"origin": "https://evil.example"}),
        (True, {"origin": "null"}),
        (True, {"origin": "http://sho.rt.evil.example"}),
    ],
)
def test_a_form_of_another_site_is_refused(
    browser: Client, make_link: MakeLink, *, form: str, secure: bool, has_token: bool, headers: dict[str, str]
) -> None:
    link = make_link(password="secret")
    stored = Link.objects.get()
    path, fields = {
        "link": (f"/{link['shortCode']}", {"password": "secret"}),
        "login": ("/accounts/login/", {"login": "operator@example.com", "password": PASSWORD}),
        "change": (f"/admin/links/link/{stored.pk}/change/", {}),
    }[form]
    token = parse_token(browser, path, secure=secure)
    sent = {**fields, **({"csrfmiddlewaretoken": token} if has_token else {})}
    cookies = browser.cookies.output()

    response = browser.post(path, sent, secure=secure, headers=headers)

    assert response.status_code == 403
    assert browser.cookies.output() == cookies
    stored.refresh_from_db()
    assert stored.is_active


def parse_token(browser: Client, path: str, *, secure: bool) -> str:
    """The token in the page; the login page contains none for somebody who is logged in."""
    if path == "/accounts/login/":
        path = "/accounts/logout/"
    response = browser.get(path, secure=secure)
    if path.startswith("/admin/"):
        return response.context["csrf_token"]
    return parse(response).value_of("csrfmiddlewaretoken")


def test_a_session_of_the_admin_gives_no_access_to_the_api(browser: Client, anonymous: APIClient) -> None:
    """The API accepts no cookies, so another site has nothing to send."""
    assert browser.get("/admin/").status_code == 200
    for path in ("/api/urls", "/api/auth/api-key", "/api/urls/stats"):
        assert browser.get(path).status_code == 401
    assert browser.post("/api/urls", "{}", content_type="application/json").status_code == 401
