"""Browsers that are signed in to the dashboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page

from accounts.models import User
from accounts.services import NewAccount
from testing.pages.browser import Visit
from testing.pages.chromium import new_page


def session_cookie(user: User) -> str:
    """The cookie of a browser in which the account signed in. Hashes no password."""
    client = Client(headers={"host": "sho.rt"})
    client.force_login(user)
    return client.cookies["sessionid"].value


def sign_in(visit: Visit, address: str, cookie: str) -> None:
    visit.page.context.add_cookies(
        [{"name": "sessionid", "value": cookie, "url": address, "httpOnly": True, "sameSite": "Lax"}]
    )


@pytest.fixture
def signed_in(browse: Callable[[], Any], address: str, alice: NewAccount) -> Callable[..., Any]:
    """Browse as `browse` does, with a session of Alice's or of another account."""

    @contextmanager
    def visit(account: NewAccount = alice) -> Iterator[Visit]:
        cookie = session_cookie(account.user)
        with browse() as visit:
            sign_in(visit, address, cookie)
            yield visit

    return visit


def open_account_menu(page: Page) -> None:
    """It has the language, the theme and the way out."""
    page.get_by_role("button", name=re.compile("Account menu|Kontomenü")).click()


def another_browser(visit: Visit) -> Visit:
    """A page that shares no cookies with the first. It closes with the browser of that one."""
    browser = visit.page.context.browser
    assert browser is not None
    return Visit(new_page(browser))


# `Page.wait_for_function` needs `eval`, which the policy of the dashboard forbids.
_WAIT = """key => new Promise(done => {
    const check = () => (sessionStorage.getItem(key) === null ? setTimeout(check, 20) : done());
    check();
})"""


def wait_for_account(page: Page) -> None:
    """Wait until the page has loaded the account, and has noted in the tab whose drafts it keeps."""
    page.evaluate(_WAIT, "dashboard.account")
