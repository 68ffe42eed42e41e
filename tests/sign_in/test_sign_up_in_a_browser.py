"""Sign-up, invitations and sessions in Chromium, with a real mail server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page
from pytest_django import Settings

from accounts.models import Member, Session, User
from accounts.services import create_account
from shortener_project.configuration.env import parse_mail_url
from testing.accounts.accounts import PASSWORD, account, bearer_client
from testing.accounts.workspaces import team
from testing.pages.browser import address as address
from testing.pages.browser import browse as browse
from testing.pages.browser import chromium as chromium
from testing.pages.chromium import new_page
from testing.polling import DEADLINE
from testing.sign_in.smtp import MailServer, mail_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
GRACE = "grace@example.com"


@pytest.fixture
def mails(settings: Settings) -> Iterator[MailServer]:
    with mail_server() as server:
        for name, value in parse_mail_url(server.url).settings.items():
            setattr(settings, name, value)
        settings.EMAIL_TIMEOUT = DEADLINE
        settings.SENDS_MAIL = True
        yield server


@pytest.fixture
def site(address: str, settings: Settings) -> str:
    """Links in mails lead to the address that the browser uses."""
    settings.BASE_URL, settings.BASE_HOST = address, "localhost"
    return address


def link_in(mails: MailServer) -> str:
    message = mails.next_mail()
    assert message["To"] == GRACE
    match = re.search(r"http://\S+", message.get_content())
    assert match is not None
    return match[0]


def send_address(page: Page, site: str) -> None:
    page.get_by_role("link", name="Create an account").click()
    page.get_by_label("E-mail address").fill(GRACE)
    page.get_by_role("button", name="Send the link").click()
    page.wait_for_url(f"{site}/accounts/signup/sent/")


def create_account_on(page: Page) -> None:
    page.get_by_label("First name").fill("Grace")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (again)").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()


def test_somebody_signs_up_with_a_mailed_link(
    browse: Callable[[], Any], site: str, settings: Settings, mails: MailServer
) -> None:
    settings.SIGNUP = "open"
    with browse() as visit:
        page = visit.page
        page.goto(f"{site}/accounts/login/?next=/accounts/2fa/")
        send_address(page, site)
        page.goto(link_in(mails))
        create_account_on(page)
        page.wait_for_url(f"{site}/accounts/2fa/")
        assert visit.errors() == []
    user = User.objects.get()
    assert (user.email, user.first_name) == (GRACE, "Grace")


def test_an_invited_person_gets_an_account_and_joins(
    browse: Callable[[], Any], site: str, settings: Settings, mails: MailServer
) -> None:
    settings.LOGIN_REDIRECT_URL = "/accounts/"
    alice = account("alice@example.com")
    workspace = team(alice, "Marketing")
    path = f"/api/workspaces/{workspace.public_id}/invitations"
    invited = bearer_client(alice.user).post(path, {"role": "editor", "email": GRACE})
    assert invited.status_code == 201
    with browse() as visit:
        page = visit.page
        page.goto(link_in(mails))
        create_account_on(page)
        page.wait_for_url(f"{site}/accounts/?workspace={workspace.public_id}")
        assert visit.errors() == []
    assert Member.objects.get(user__email=GRACE, workspace=workspace).role == "editor"


def log_in(page: Page, site: str) -> None:
    page.goto(f"{site}/accounts/login/?next=/accounts/sessions/")
    page.get_by_label("E-mail address").fill(GRACE)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{site}/accounts/sessions/")


def test_a_person_ends_the_session_of_another_browser(browse: Callable[[], Any], site: str) -> None:
    create_account(email=GRACE, password=PASSWORD)
    with browse() as visit:
        here = visit.page
        other = new_page(here.context.browser, user_agent="Lost laptop")
        for page in (here, other):
            log_in(page, site)
        here.reload()
        here.get_by_role("button", name="End the session of Lost laptop").click()
        here.get_by_role("button", name="End the session of Lost laptop").wait_for(state="detached")
        other.reload()
        other.wait_for_url(f"{site}/accounts/login/?next=/accounts/sessions/")
        here.get_by_text("Browser, this one").wait_for()
        assert visit.errors() == []
    assert Session.objects.filter(ended_at=None).count() == 1
