"""The pages of the admin in a browser: their policy, logout and framing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib import admin
from playwright.sync_api import Page

from accounts.models import User
from accounts.services import NewAccount
from domains.models import Domain, DomainStatus
from testing.accounts.accounts import PASSWORD, key_client
from testing.accounts.fixtures import operator as operator
from testing.pages.browser import Visit
from testing.pages.browser import address as address
from testing.pages.browser import browse as browse
from testing.pages.browser import chromium as chromium
from tests.security.front_ends import origins as origins

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

MakeLink = Callable[..., dict[str, Any]]


def log_in(page: Page, address: str) -> None:
    page.goto(f"{address}/admin/")
    page.get_by_label("E-mail address").fill("operator@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{address}/admin/")


def test_every_page_of_the_admin_works_under_its_policy(
    browse: Callable[[], Any], address: str, make_link: MakeLink, operator: User, alice: NewAccount
) -> None:
    Domain.objects.create(
        owner=alice.workspace, domain="example.net", host="example.net", status=DomainStatus.ACTIVE
    )
    link = make_link(title="<img src=x onerror=alert(1)>")
    key_client(alice.api_key).post("/api/qr-codes", {"urlId": link["_id"]})
    lists = [f"{model._meta.app_label}/{model._meta.model_name}/" for model in admin.site._registry]

    with browse() as visit:
        page = visit.page
        log_in(page, address)
        for path in lists:
            page.goto(f"{address}/admin/{path}")
            assert visit.errors() == [], path
            rows = page.locator("#result_list tbody th a")
            if rows.count():
                rows.first.click()
                page.wait_for_url(f"{address}/admin/{path}*/change/**")
                page.wait_for_selector("#content-main")
                assert visit.errors() == [], path
                page.go_back()
            adding = page.locator(".object-tools .addlink")
            if adding.count():
                adding.click()
                page.wait_for_url(f"{address}/admin/{path}add/**")
                page.wait_for_selector("#content-main form")
                assert visit.errors() == [], path
        # What the scripts of the admin do: filter a list, choose a theme, look up a password.
        page.goto(f"{address}/admin/accounts/user/?plan__exact=pro")
        page.locator(".theme-toggle").first.click()
        assert page.evaluate("document.documentElement.dataset.theme") in ("light", "dark", "auto")
        assert (
            page.evaluate("getComputedStyle(document.querySelector('#header')).backgroundColor")
            != "rgba(0, 0, 0, 0)"
        )
        assert visit.errors() == []


def test_after_logout_a_kept_cookie_gives_no_access(
    browse: Callable[[], Any], address: str, operator: User
) -> None:
    """ASVS 7.4.1"""
    with browse() as visit:
        page = visit.page
        log_in(page, address)
        kept = page.context.cookies()
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url(f"{address}/accounts/login/")
        page.context.add_cookies(kept)
        page.goto(f"{address}/admin/accounts/user/")
        assert page.url == f"{address}/accounts/login/?next=%2Fadmin%2Faccounts%2Fuser%2F"
        assert visit.errors() == []


def test_no_page_can_be_framed(
    browse: Callable[[], Any], address: str, origins: tuple[str, str], make_link: MakeLink, operator: User
) -> None:
    link = make_link(password="secret")

    with browse() as visit:
        for path in ("/", f"/{link['shortCode']}", "/unknown1", "/api/docs", "/accounts/login/"):
            visit.page.goto(origins[1])
            frame_with(visit, f"{address}{path}")
            visit.wait_for_complaint("frame-ancestors", "X-Frame-Options")
            visit.complaints.clear()


def frame_with(visit: Visit, url: str) -> None:
    visit.page.evaluate(
        """url => new Promise(done => {
            const frame = document.createElement("iframe");
            frame.onload = frame.onerror = () => done();
            frame.src = url;
            document.body.append(frame);
        })""",
        url,
    )
