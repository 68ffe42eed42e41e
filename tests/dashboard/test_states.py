"""Errors and ended sessions: the dashboard names the next step, and keeps all input."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings

from accounts.models import User
from accounts.services import NewAccount
from links.models import Link
from testing.accounts.accounts import PASSWORD
from testing.accounts.fixtures import operator as operator
from testing.pages.dashboard import open_account_menu, session_cookie, sign_in, wait_for_account
from testing.pages.waiting import wait_until
from testing.polling import DEADLINE
from tests.dashboard.report_page import MARCH

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
DESTINATION = "https://example.com/typed"
_TRY_AGAIN = """() => {
    const buttons = [...document.querySelectorAll(".failed button")];
    buttons.find(({ textContent }) => textContent === "Try again")?.click();
}"""


def test_somebody_signs_in_and_out(browse: Callable[[], Any], address: str, operator: User) -> None:
    with browse() as visit:
        page = visit.page
        page.goto(address)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_label("E-mail address").fill("operator@example.com")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url(f"{address}/dashboard/overview")
        expect(page.get_by_text("Make your first short link")).to_be_visible()
        # Scripts see no cookie.
        assert page.evaluate("document.cookie") == ""
        open_account_menu(page)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        assert visit.errors(401) == []


def test_an_ended_session_keeps_what_was_typed(
    browse: Callable[[], Any], address: str, alice: NewAccount
) -> None:
    first, second = session_cookie(alice.user), session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, first)
        page.goto(f"{address}/dashboard/new")
        wait_for_account(page)
        page.get_by_label("Destination URL").fill(DESTINATION)
        # The session ends elsewhere; the page still holds a token of it.
        ended = page.request.post(f"{address}/dashboard/session/end", headers={"Origin": address})
        assert ended.ok
        page.get_by_role("button", name="Create link").click()
        expect(page.locator("[data-state=signed-out]")).to_be_visible()
        expect(page.get_by_label("Destination URL")).to_have_value(DESTINATION)
        # They sign in in another tab, and come back.
        sign_in(visit, address, second)
        try_again(page, "signed-out")
        page.get_by_role("button", name="Create link").click()
        expect(page.locator("form.editor[data-link]")).to_be_visible()
        assert visit.errors(401) == []
    assert [link.original_url for link in Link.objects.all()] == [DESTINATION]


def test_an_unreachable_service_keeps_what_was_typed(signed_in: Callable[..., Any], address: str) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/new")
        wait_for_account(page)
        page.get_by_label("Destination URL").fill(DESTINATION)
        page.route("**/api/**", lambda route: route.abort("connectionrefused"))
        # Otherwise the page asks again by itself.
        page.evaluate("window.setInterval = () => 0")
        page.get_by_role("button", name="Create link").click()
        expect(page.locator("[data-state=away]")).to_be_visible()
        expect(page.get_by_label("Destination URL")).to_have_value(DESTINATION)
        page.unroute_all()
        try_again(page, "away")
        page.get_by_role("button", name="Create link").click()
        expect(page.locator("form.editor[data-link]")).to_be_visible()
    assert [link.original_url for link in Link.objects.all()] == [DESTINATION]


def test_a_lost_response_creates_no_second_link(signed_in: Callable[..., Any], address: str) -> None:

    def lose_response(route: Any) -> None:
        route.fetch(timeout=1000 * DEADLINE)
        route.abort("connectionreset")

    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/new")
        wait_for_account(page)
        page.get_by_label("Destination URL").fill(DESTINATION)
        page.route("**/api/urls", lose_response, times=1)
        # The banner stays until the test has seen it: the page asks again after a few seconds.
        page.route("**/api/auth/me", lambda route: route.abort("connectionrefused"))
        page.get_by_role("button", name="Create link").click()
        expect(page.locator("[data-state=away]")).to_be_visible()
        page.unroute("**/api/auth/me")
        page.get_by_role("button", name="Create link").click()
        expect(page.locator("form.editor[data-link]")).to_be_visible()
    assert Link.objects.count() == 1


def test_a_slow_service_is_reported_until_it_responds(signed_in: Callable[..., Any], address: str) -> None:
    held: list[Any] = []
    with signed_in() as visit:
        page = visit.page
        page.route("**/api/urls?**", lambda route: held.append(route), times=1)  # noqa: PLW0108 # Playwright reads its signature
        page.goto(f"{address}/dashboard/")
        expect(page.locator("[data-state=slow]")).to_be_visible()
        wait_until(page, lambda: held)
        held[0].continue_()
        expect(page.get_by_text("Make your first short link")).to_be_visible()
        expect(page.locator("[data-state=slow]")).to_have_count(0)
        assert visit.errors() == []


def test_a_reload_keeps_what_was_typed_but_no_password(signed_in: Callable[..., Any], address: str) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/new")
        wait_for_account(page)
        page.get_by_label("Destination URL").fill(DESTINATION)
        page.get_by_text("Password, limits, countries, devices").click()
        page.get_by_label("Password", exact=True).fill("open sesame")
        page.reload()
        expect(page.get_by_label("Destination URL")).to_have_value(DESTINATION)
        stored = page.evaluate("JSON.stringify([Object.values(sessionStorage), Object.values(localStorage)])")
        assert "open sesame" not in stored
        assert visit.errors() == []


def test_nothing_of_the_token_is_stored_in_the_browser(
    browse: Callable[[], Any], address: str, alice: NewAccount
) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(f"{address}/dashboard/")
        expect(page.get_by_text("Make your first short link")).to_be_visible()
        wait_for_account(page)
        stored = page.evaluate(
            "JSON.stringify([document.cookie, Object.entries(sessionStorage), Object.entries(localStorage)])"
        )
        assert json.loads(stored) == ["", [["dashboard.account", str(alice.user.public_id)]], []]
        [kept] = [one for one in page.context.cookies() if one["name"] == "sessionid"]
        assert kept["value"] == cookie


def test_somebody_without_the_required_second_factor_is_sent_to_set_one_up(
    signed_in: Callable[..., Any], address: str, settings: Settings
) -> None:
    settings.REQUIRE_2FA = "all"
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        expect(page.get_by_text("This service requires a second factor")).to_be_visible()
        page.get_by_role("button", name="Set up a second factor").click()
        page.wait_for_url(f"{address}/accounts/2fa/")
        assert visit.errors(403) == []


def test_a_second_factor_that_becomes_required_keeps_what_was_typed(
    signed_in: Callable[..., Any], address: str, settings: Settings
) -> None:
    with signed_in() as visit:
        page = visit.page
        # Each call takes a new token.
        page.route("**/dashboard/session/token", expire_at_once)
        page.goto(f"{address}/dashboard/new")
        wait_for_account(page)
        page.get_by_label("Destination URL").fill(DESTINATION)
        settings.REQUIRE_2FA = "all"
        page.get_by_role("button", name="Create link").click()
        banner = page.locator("[data-state=signed-out]")
        expect(banner).to_contain_text("This service requires a second factor")
        expect(page.get_by_label("Destination URL")).to_have_value(DESTINATION)
        settings.REQUIRE_2FA = "none"
        try_again(page, "signed-out")
        page.get_by_role("button", name="Create link").click()
        expect(page.locator("form.editor[data-link]")).to_be_visible()
        assert visit.errors(403) == []


def try_again(page: Page, state: str) -> None:
    """Press the button of the banner, unless the page has come back by itself, as with an answer to another call."""
    page.evaluate(f"document.querySelector('[data-state={state}] button')?.click()")
    expect(page.locator(f"[data-state={state}]")).to_have_count(0)


def expire_at_once(route: Any) -> None:
    response = route.fetch(timeout=1000 * DEADLINE)
    body = response.json()
    route.fulfill(response=response, json={**body, "expiresIn": 0} if "token" in body else body)


def test_every_page_says_why_it_shows_no_data_and_tries_again(
    signed_in: Callable[..., Any], address: str, make_link: Callable[..., dict[str, Any]]
) -> None:
    link = make_link()["_id"]
    refused = json.dumps({"success": False, "code": "internal_error", "message": "Something went wrong."})
    paths = (
        "workspaces",
        "account",
        "keys",
        "keys/requests",
        "history",
        "domains",
        # Of days that are over, so that it does not try again by itself.
        f"links/{link}/report?{MARCH}",
        f"links/{link}/history",
    )
    with signed_in() as visit:
        page = visit.page
        for path in paths:
            page.route("**/api/**", lambda route: route.fulfill(status=500, body=refused))
            page.goto(f"{address}/dashboard/{path}")
            failure = page.locator("main").get_by_role("alert").first
            expect(failure).to_have_text("Something went wrong.")
            expect(page.locator("main [aria-busy=true]")).to_have_count(0)
            page.unroute_all()
            # A page may have several parts that failed. They may try again by themselves once one has succeeded.
            failed = page.locator(".failed")
            while count := failed.count():
                page.evaluate(_TRY_AGAIN)
                expect(failed).not_to_have_count(count)
            expect(page.locator("main [aria-busy=true]")).to_have_count(0)


def test_the_history_of_an_unknown_link_leads_to_the_links(
    signed_in: Callable[..., Any], address: str
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/links/01a22177-86af-7c31-a803-dc06a6e4f199/history")
        expect(page.get_by_role("alert")).to_have_text("This link does not exist or was deleted.")
        expect(page.get_by_role("link", name="All links")).to_be_visible()
        assert visit.errors(404) == []


def test_the_banner_promises_to_keep_input_only_if_there_is_some(
    signed_in: Callable[..., Any], address: str
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.route("**/api/**", lambda route: route.abort("connectionrefused"))
        page.goto(f"{address}/dashboard/domains")
        banner = page.locator("[data-state=away] p")
        expect(banner).to_have_text("The service cannot be reached. This page keeps trying.")
        page.get_by_label("Domain", exact=True).fill("go.brand.example")
        page.reload()
        expect(banner).to_have_text(
            "The service cannot be reached. This page keeps trying. Your input is kept."
        )
