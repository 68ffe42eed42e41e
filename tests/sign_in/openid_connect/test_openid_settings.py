"""Which providers and settings of OpenID Connect the service accepts, and what it does without one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from accounts.services import NewAccount
from shortener_project.configuration.env import MailServer
from shortener_project.configuration.sign_in import (
    check_provider_options,
    provider_settings,
    sign_in_settings,
)
from testing.accounts.accounts import PASSWORD
from testing.settings_module import refusal
from testing.sign_in.oidc.running import provider
from testing.sign_in.pages import browser, logged_in_as
from tests.sign_in.openid_connect.openid import ADA, log_in, use

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_an_issuer_may_end_in_a_slash(settings: Settings) -> None:
    """OpenID Connect Discovery 1.0, 4.1. Issuers are equal only if the slash is, too."""
    settings.OIDC_CREATE_ACCOUNTS = True
    with provider("http://sho.rt/accounts/oidc/callback/", path="/o/") as running:
        assert running.issuer.endswith("/o/")
        running.say(**ADA)
        use(settings, running.issuer.rstrip("/"))
        assert browser().post("/accounts/oidc/login/").status_code == 502
        use(settings, running.issuer)
        client = browser()
        assert log_in(client).status_code == 302
        assert logged_in_as(client) == "ada@example.com"


def test_a_provider_that_is_away_gets_503(settings: Settings) -> None:
    use(settings, "http://127.0.0.1:1/o")
    response = browser().post("/accounts/oidc/login/")
    assert (response.status_code, response["Retry-After"]) == (503, "2")


@pytest.mark.parametrize("path", ["login", "connect", "callback"])
def test_without_a_provider_there_are_no_such_pages(path: str, alice: NewAccount) -> None:
    client = browser()
    client.force_login(alice.user)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    method = client.get if path == "callback" else client.post
    assert method(f"/accounts/oidc/{path}/").status_code == 404
    assert "single sign-on" not in browser().get("/accounts/login/").content.decode()


@pytest.mark.parametrize(
    "issuer",
    [
        "http://id.example",
        "ftp://id.example",
        "https://",
        "id.example",
        "http://localhost.evil.example",
        "//id",
    ],
)
def test_an_issuer_without_tls_is_refused(issuer: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="OIDC_ISSUER must be an https URL"):
        provider_settings(issuer, "x", "y")


@pytest.mark.parametrize("issuer", ["https://id.example", "http://localhost:8080/o", "http://127.0.0.1:1/o"])
def test_an_issuer_with_tls_or_on_loopback_is_accepted(issuer: str) -> None:
    assert provider_settings(issuer, "x", "y")


def test_incomplete_settings_are_refused() -> None:
    for values in (("https://id.example", "", ""), ("", "x", "y"), ("https://id.example", "x", "")):
        with pytest.raises(ImproperlyConfigured, match="belong together"):
            provider_settings(*values)
    with pytest.raises(ImproperlyConfigured, match="PASSWORD_LOGIN"):
        sign_in_settings(mail=MailServer(), sender="x", provider={}, has_password_login=False, signup="off")


@pytest.mark.parametrize(
    "domain", ["@corp.example", "*.corp.example", "a@corp.example", "corp.example.", "corp/"]
)
def test_what_is_no_domain_is_refused(domain: str) -> None:
    """It would match nobody."""
    with pytest.raises(ImproperlyConfigured, match=f"corp.example, not '{re.escape(domain)}'"):
        check_provider_options("https://id.example", OIDC_ALLOWED_DOMAINS={domain})


def test_domains_are_accepted() -> None:
    check_provider_options(
        "https://id.example", OIDC_ALLOWED_DOMAINS={"corp.example", "b\u00fcro.example", "x-1"}
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OIDC_ALLOWED_DOMAINS", "corp.example"),
        ("OIDC_CREATE_ACCOUNTS", "yes"),
        ("OIDC_LOGOUT", "yes"),
        ("OIDC_STAFF_GROUP", "operators"),
    ],
)
def test_options_without_a_provider_stop_the_start(name: str, value: str, tmp_path: Path) -> None:
    assert f"{name} needs OIDC_ISSUER." in refusal(tmp_path, **{name: value})
