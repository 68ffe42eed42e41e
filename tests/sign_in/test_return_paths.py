"""A login redirects only to pages of the service, never through a short link to another site."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import User
from accounts.services import NewAccount
from sign_in.safe_urls import is_own_page
from testing.accounts.accounts import PASSWORD
from testing.cases import for_each

OWN = [
    *(
        "/accounts/",
        "/accounts/2fa/totp/activate/",
        "/admin",
        "/admin/links/link/1/change/?_changelist_filters=q%3D1",
    ),
    *(
        "/dashboard/",
        "/dashboard/new?url=https%3A%2F%2Fexample.com%2F&title=x",
        "/dashboard/links/01a1fa86-5c3e",
    ),
]
FOREIGN = [
    *("", "/", "/abc", "/accountsabc", "/dashboard.evil", "/qr/abc", "/api/docs", "accounts/", "?next=/abc"),
    *(
        "//evil.example/",
        "/\\evil.example",
        "https://evil.example/",
        "javascript:alert(1)",
        "http://sho.rt/accounts/",
    ),
    # Browsers resolve each of these to /abc.
    *(
        "/accounts/../abc",
        "/accounts/%2e%2e/abc",
        "/accounts/.%2E/abc",
        "/accounts/..\\abc",
        "/accounts/.\t./abc",
    ),
    *(
        "/accounts/./../abc",
        "/accounts/2fa/../../abc",
        "/accounts/\n../abc",
        " /abc",
        "/accounts//../..//abc",
    ),
]


@pytest.mark.parametrize("target", OWN)
def test_pages_of_the_service_are_accepted(target: str) -> None:
    assert is_own_page(target)


@for_each("target", FOREIGN)
def test_everything_else_is_refused(target: str) -> None:
    assert not is_own_page(target)


@pytest.mark.django_db
@for_each("target", FOREIGN)
def test_no_login_leads_elsewhere(target: str, alice: NewAccount) -> None:
    client = Client(headers={"host": "sho.rt"})
    fields = {"login": "alice@example.com", "password": PASSWORD, "next": target}
    assert client.post("/accounts/login/", fields)["Location"] == "/dashboard/overview"
    # For somebody who has logged in, too.
    assert client.get("/accounts/login/", {"next": target})["Location"] == "/dashboard/overview"
    User.objects.update(is_staff=True, is_superuser=True)
    assert client.get("/admin/login/", {"next": target})["Location"] == "/admin/"


@pytest.mark.django_db
@pytest.mark.parametrize("target", OWN)
def test_a_login_returns_to_the_page_that_required_it(target: str, alice: NewAccount) -> None:
    client = Client(headers={"host": "sho.rt"})
    fields = {"login": "alice@example.com", "password": PASSWORD, "next": target}
    assert client.post("/accounts/login/", fields)["Location"] == target
