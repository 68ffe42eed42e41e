"""Logins with a second factor, with a passkey and with a mailed link, in Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.mail import get_connection
from playwright.sync_api import Page, expect
from pytest_django import Settings

from accounts.services import create_account
from shortener_project.configuration.env import parse_mail_url
from sign_in.forms import COPIED
from testing.accounts.accounts import PASSWORD
from testing.pages.browser import address as address
from testing.pages.browser import browse as browse
from testing.pages.browser import chromium as chromium
from testing.polling import DEADLINE
from testing.sign_in.smtp import mail_server
from testing.sign_in.totp import code

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
EMAIL = "operator@example.com"
Authenticated = Callable[..., dict[str, Any]]


@pytest.fixture
def site(address: str, settings: Settings) -> str:
    """The address in mails and of passkeys is the one that the browser uses. A slow machine may be minutes late."""
    settings.BASE_URL, settings.BASE_HOST = address, "localhost"
    settings.MFA_TOTP_TOLERANCE = 20
    create_account(email=EMAIL, password=PASSWORD, superuser=True)
    return address


def log_in(page: Page, site: str, password: str = PASSWORD) -> None:
    page.goto(f"{site}/accounts/login/?next=/admin/")
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def log_out(page: Page, site: str) -> None:
    page.goto(f"{site}/accounts/logout/")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{site}/accounts/login/")


def confirm_password(page: Page) -> None:
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()


def add_passkey(page: Page, site: str) -> None:
    log_in(page, site)
    page.wait_for_url(f"{site}/admin/")
    page.goto(f"{site}/accounts/2fa/webauthn/add/")
    confirm_password(page)
    page.get_by_label("Without a password").check()
    page.get_by_role("button", name="Add").click()
    page.wait_for_url(f"{site}/accounts/2fa/recovery-codes/")


def enter_code(page: Page, text: str) -> None:
    page.wait_for_url("**/accounts/2fa/authenticate/**")
    page.get_by_label("Code", exact=True).fill(text)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_authenticator_app_and_recovery_codes(browse: Callable[[], Any], site: str) -> None:
    with browse() as visit:
        page = visit.page
        log_in(page, site)
        page.wait_for_url(f"{site}/admin/")
        page.goto(f"{site}/accounts/2fa/")
        page.get_by_role("link", name="Activate").click()
        confirm_password(page)
        secret = page.get_by_label("Authenticator secret").input_value()
        # Rejects a picture that cannot be loaded or drawn.
        page.locator("img").evaluate("image => image.decode()")
        page.get_by_label("Authenticator code").fill(code(secret))
        page.get_by_role("button", name="Activate").click()
        page.wait_for_url(f"{site}/accounts/2fa/recovery-codes/")
        recovery_code, *_ = page.get_by_label("Unused codes").input_value().split()

        log_out(page, site)
        log_in(page, site)
        used = code(secret, steps_later=1)
        enter_code(page, used)
        page.wait_for_url(f"{site}/admin/")

        log_out(page, site)
        log_in(page, site)
        enter_code(page, used)
        assert page.get_by_role("alert").inner_text() == "The code is wrong or was already used."
        enter_code(page, recovery_code)
        page.wait_for_url(f"{site}/admin/")
        assert visit.errors() == []


def add_virtual_authenticator(page: Page) -> Authenticated:
    """Returns a function that calls a method of it."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    added = devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return lambda method, **values: devtools.send(f"WebAuthn.{method}", {**added, **values})


def test_a_passkey_logs_in_with_and_without_the_password(browse: Callable[[], Any], site: str) -> None:
    with browse() as visit:
        page = visit.page
        add_virtual_authenticator(page)
        add_passkey(page, site)
        log_out(page, site)
        log_in(page, site)
        page.get_by_role("button", name="Use a passkey").click()
        page.wait_for_url(f"{site}/admin/")

        log_out(page, site)
        page.goto(f"{site}/accounts/login/?next=/admin/")
        page.get_by_role("button", name="Sign in with a passkey").click()
        page.wait_for_url(f"{site}/admin/")
        assert visit.errors() == []

    kinds = Authenticator.objects.values_list("type", flat=True)
    assert sorted(kinds) == ["recovery_codes", "webauthn"]


def test_a_passkey_that_is_not_used_shows_why(browse: Callable[[], Any], site: str) -> None:
    with browse() as visit:
        page = visit.page
        authenticator = add_virtual_authenticator(page)
        add_passkey(page, site)
        # The same device again.
        page.goto(f"{site}/accounts/2fa/webauthn/add/")
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_role("alert")).to_have_text("This device already has a passkey for this account.")
        log_out(page, site)

        cancelled = re.compile("^No passkey was used: the request was cancelled or took too long")
        authenticator("setUserVerified", isUserVerified=False)
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page.get_by_role("alert")).to_have_text(cancelled)
        # Another attempt replaces the message.
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page.get_by_role("alert")).to_have_count(1)
        [credential] = authenticator("getCredentials")["credentials"]
        authenticator("clearCredentials")
        log_in(page, site)
        page.get_by_role("button", name="Use a passkey").click()
        expect(page.get_by_role("alert")).to_have_text(cancelled)

        # A copy of the key, whose counter begins anew.
        page.get_by_role("button", name="Cancel").click()
        page.wait_for_url(f"{site}/accounts/login/")
        authenticator("setUserVerified", isUserVerified=True)
        authenticator("addCredential", credential={**credential, "signCount": 100})
        page.goto(f"{site}/accounts/login/?next=/admin/")
        page.get_by_role("button", name="Sign in with a passkey").click()
        page.wait_for_url(f"{site}/admin/")
        log_out(page, site)
        authenticator("clearCredentials")
        authenticator("addCredential", credential={**credential, "signCount": 50})
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page.get_by_text(COPIED)).to_be_visible()
        assert visit.errors() == []


def test_a_mailed_link_leads_to_a_new_password(
    browse: Callable[[], Any], site: str, settings: Settings
) -> None:
    with mail_server() as server, browse() as visit:
        for name, value in parse_mail_url(server.url).settings.items():
            setattr(settings, name, value)
        settings.EMAIL_TIMEOUT = DEADLINE
        settings.SENDS_MAIL = True
        assert type(get_connection()).__module__ == "django.core.mail.backends.smtp"
        page = visit.page
        page.goto(f"{site}/accounts/login/")
        page.get_by_role("link", name="Forgot your password?").click()
        page.get_by_label("E-mail address").fill(EMAIL)
        page.get_by_role("button", name="Send the link").click()
        page.wait_for_url(f"{site}/accounts/password/reset/done/")

        message = server.next_mail()
        assert (message["To"], message["From"]) == (EMAIL, settings.DEFAULT_FROM_EMAIL)
        link = re.search(r"http://\S+", message.get_content())
        assert link is not None
        page.goto(link[0])
        page.get_by_label("New password", exact=True).fill("another good password")
        page.get_by_label("New password (again)").fill("another good password")
        page.get_by_role("button", name="Change the password").click()
        page.wait_for_url(f"{site}/accounts/password/reset/key/done/")

        log_in(page, site, "another good password")
        page.wait_for_url(f"{site}/admin/")
        assert visit.errors() == []
