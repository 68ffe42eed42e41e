"""The page of the account in Chromium: name, second factor, API key and sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from pytest_django.fixtures import Settings

from accounts.models import Session, User
from accounts.services import NewAccount, read_api_key
from analytics.models import ReportMail
from testing.accounts.accounts import bearer_client, key_client
from testing.pages.browser import Visit
from testing.pages.chromium import CHROME
from testing.pages.dashboard import another_browser, session_cookie, sign_in
from testing.sign_in.totp import add_totp

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def open_account(visit: Visit, address: str) -> Any:
    visit.page.goto(f"{address}/dashboard/account")
    expect(visit.page.get_by_role("heading", name="Account", level=1)).to_be_visible()
    return visit.page


def test_the_name_is_saved(signed_in: Callable[..., Any], address: str, alice: NewAccount) -> None:
    with signed_in() as visit:
        page = open_account(visit, address)
        page.get_by_label("First name").fill("Grace")
        page.get_by_label("Last name").fill("Hopper")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Name saved")).to_be_visible()
        assert visit.errors() == []
    alice.user.refresh_from_db()
    assert (alice.user.first_name, alice.user.last_name) == ("Grace", "Hopper")


def test_a_refused_name_stays_in_the_form_with_its_reason(
    signed_in: Callable[..., Any], address: str
) -> None:
    with signed_in() as visit:
        page = open_account(visit, address)
        page.get_by_label("First name").evaluate("input => input.removeAttribute('maxlength')")
        page.get_by_label("First name").fill("x" * 101)
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_label("First name")).to_have_attribute("aria-invalid", "true")
        expect(page.get_by_role("alert")).to_have_text("Ensure this field has no more than 100 characters.")
        assert visit.errors(400) == []


def test_the_page_says_whether_a_second_factor_protects_the_account(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    add_totp(stranger.user)
    texts = ["Only your password protects your account.", "A second factor protects your account."]
    for account, text in zip((alice, stranger), texts, strict=True):
        with signed_in(account) as visit:
            page = open_account(visit, address)
            expect(page.get_by_text(text)).to_be_visible()


@pytest.mark.parametrize(
    ("link", "path"),
    [
        ("Change the password", "/accounts/password/change/"),
        ("Authenticator app and recovery codes", "/accounts/2fa/"),
        ("Passkeys", "/accounts/2fa/webauthn/"),
    ],
)
def test_the_pages_about_credentials_are_those_of_the_sign_in(
    link: str, path: str, signed_in: Callable[..., Any], address: str
) -> None:
    with signed_in() as visit:
        page = open_account(visit, address)
        page.get_by_role("link", name=link).click()
        page.wait_for_url(f"{address}{path}")
        assert visit.errors() == []


def test_the_api_key_is_shown_and_replaced(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    with signed_in() as visit:
        page = open_account(visit, address)
        section = page.get_by_role("region", name="API key")
        expect(section.get_by_role("button", name="Show the key")).to_be_visible()
        assert alice.api_key not in page.content()
        section.get_by_role("button", name="Show the key").click()
        expect(section.locator("output")).to_have_text(alice.api_key)
        section.get_by_role("button", name="Hide").click()
        expect(section.locator("output")).to_have_count(0)

        section.get_by_role("button", name="Replace the key").click()
        dialog = page.get_by_role("dialog", name="Replace the key")
        expect(dialog).to_contain_text("All programs that use the current key stop working at once.")
        dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_have_count(0)
        section.get_by_role("button", name="Replace the key").click()
        dialog.get_by_role("button", name="Replace the key").click()
        expect(page.get_by_text("API key replaced")).to_be_visible()
        shown = section.locator("output").inner_text()
        assert visit.errors() == []
    assert shown == read_api_key(user=User.objects.get(pk=alice.user.pk)) != alice.api_key
    assert key_client(shown).get("/api/urls").status_code == 200
    assert key_client(alice.api_key).get("/api/urls").status_code == 401


def test_sessions_are_listed_and_ended(browse: Callable[[], Any], address: str, alice: NewAccount) -> None:
    cookie = session_cookie(alice.user)
    # The sign-in of a test comes from no browser.
    Session.objects.update(user_agent=CHROME)
    clients = [bearer_client(alice.user) for _ in range(3)]
    with browse() as visit:
        sign_in(visit, address, cookie)
        page = open_account(visit, address)
        rows = page.locator("[data-session]")
        expect(rows).to_have_count(4)
        own = rows.filter(has_text="This browser")
        expect(own).to_have_count(1)
        expect(own).to_contain_text("Chrome, Linux")
        expect(own.get_by_role("button", name="Sign out")).to_be_visible()

        other = rows.filter(has_not_text="This browser").first
        ended = other.get_attribute("data-session")
        other.get_by_role("button").click()
        page.get_by_role("dialog").get_by_role("button", name="End").click()
        expect(page.get_by_text("1 session ended")).to_be_visible()
        expect(page.locator(f"[data-session='{ended}']")).to_have_count(0)
        expect(rows).to_have_count(3)

        page.get_by_role("button", name="End all other sessions").click()
        page.get_by_role("dialog").get_by_role("button", name="End all other sessions").click()
        expect(page.get_by_text("2 sessions ended")).to_be_visible()
        expect(rows).to_have_count(1)
        assert visit.errors() == []
    assert [client.get("/api/auth/me").status_code for client in clients] == [401] * 3


def test_ending_this_session_in_another_browser_signs_the_page_out(
    browse: Callable[[], Any], address: str, alice: NewAccount
) -> None:
    first, second = session_cookie(alice.user), session_cookie(alice.user)
    with browse() as visit:
        other = another_browser(visit)
        sign_in(visit, address, first)
        page = open_account(visit, address)
        expect(page.locator("[data-session]").first).to_be_visible()
        sign_in(other, address, second)
        other.page.goto(f"{address}/dashboard/account")
        row = other.page.locator("[data-session]").filter(has_not_text="This browser")
        row.get_by_role("button").click()
        other.page.get_by_role("dialog").get_by_role("button", name="End").click()
        expect(other.page.get_by_text("1 session ended")).to_be_visible()
        page.get_by_label("First name").fill("Grace")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("[data-state=signed-out]")).to_be_visible()
        expect(page.get_by_label("First name")).to_have_value("Grace")
        assert visit.errors(401) == []
        assert other.errors() == []


def test_reports_by_mail_are_chosen_where_the_service_sends_mails(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, settings: Settings
) -> None:
    settings.SENDS_MAIL = True
    with signed_in() as visit:
        page = open_account(visit, address)
        weekly = page.get_by_label("A report of each week, on Monday")
        weekly.check()
        expect(page.get_by_text("Choice saved")).to_be_visible()
        page.reload()
        expect(weekly).to_be_checked()
        settings.SENDS_MAIL = False
        page.reload()
        expect(page.get_by_text("This service sends no mails.")).to_be_visible()
        # What was chosen can be ended.
        expect(page.get_by_label("A report of each month")).to_be_disabled()
        weekly.uncheck()
        expect(weekly).to_be_disabled()
        assert visit.errors() == []
    assert ReportMail.objects.count() == 0
