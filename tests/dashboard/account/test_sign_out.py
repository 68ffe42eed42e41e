"""Signing out leaves no data in the browser, and interrupts no pending deletion."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from accounts.services import NewAccount
from links.models import Link
from testing.accounts.workspaces import team
from testing.pages.dashboard import open_account_menu, session_cookie, sign_in, wait_for_account
from testing.pages.waiting import wait_until
from testing.polling import DEADLINE

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
STORED = "JSON.stringify([Object.keys(sessionStorage), Object.keys(localStorage)])"
DRAFT = "https://example.com/confidential"
ACCOUNT_IS_READ = "The account is read."
# While the browser waits for the next page, Playwright cannot ask the page before it. The message follows in a task of
# its own, after the code that handles the response.
REPORT_ACCOUNT = f"""
    const json = Response.prototype.json;
    Response.prototype.json = async function () {{
        const body = await json.call(this);
        if (this.url.endsWith("/api/auth/me")) setTimeout(() => console.info("{ACCOUNT_IS_READ}"));
        return body;
    }};
"""


def test_signing_out_leaves_neither_a_draft_nor_a_workspace(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    workspace = team(alice)
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/new?workspace={workspace.public_id}")
        page.get_by_label("Destination URL").fill(DRAFT)
        assert "dashboard.draft.new" in page.evaluate(STORED)
        open_account_menu(page)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        assert page.evaluate(STORED) == "[[],[]]"
        assert page.url == f"{address}/dashboard/overview"
        assert visit.errors(401) == []


def test_a_response_that_arrives_after_the_sign_out_stores_nothing(
    signed_in: Callable[..., Any], address: str
) -> None:
    accounts: list[tuple[Route, Any]] = []
    documents: list[Route] = []
    with signed_in() as visit:
        page = visit.page
        page.add_init_script(REPORT_ACCOUNT)
        page.route(
            "**/api/auth/me", lambda route: accounts.append((route, route.fetch(timeout=1000 * DEADLINE)))
        )
        page.goto(f"{address}/dashboard/new")
        wait_until(page, lambda: accounts)
        page.route(re.compile("/dashboard/overview$"), lambda route: documents.append(route))  # noqa: PLW0108 # Playwright reads its signature
        open_account_menu(page)
        page.get_by_role("button", name="Sign out").click(no_wait_after=True)
        wait_until(page, lambda: documents)
        # The page that signs out is still there, and gets its account.
        [(call, response)] = accounts
        with page.expect_console_message(lambda message: message.text == ACCOUNT_IS_READ):
            call.fulfill(response=response)
        documents[0].continue_()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        assert page.evaluate(STORED) == "[[],[]]"
        assert visit.errors(401) == []


def test_another_account_in_the_same_tab_sees_no_draft(
    browse: Callable[[], Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    cookies = [session_cookie(alice.user), session_cookie(stranger.user)]
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookies[0])
        page.goto(f"{address}/dashboard/new")
        wait_for_account(page)
        page.get_by_label("Destination URL").fill(DRAFT)
        # Her session ends without a sign-out, and somebody else signs in.
        sign_in(visit, address, cookies[1])
        page.goto(f"{address}/dashboard/account")
        expect(page.get_by_text("You are signed in as mallory@example.com.")).to_be_visible()
        page.goto(f"{address}/dashboard/new")
        expect(page.get_by_label("Destination URL")).to_have_value("")
        assert "dashboard.draft.new" not in page.evaluate(STORED)
        assert visit.errors() == []


def test_a_deletion_that_could_be_undone_happens_before_the_session_ends(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    make_link(title="Old")
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        # The time for an undo does not pass.
        page.clock.install()
        page.locator("tr[data-link] input").check()
        page.get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_text("1 link deleted")).to_be_visible()
        open_account_menu(page)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        assert visit.errors(401) == []
    assert Link.objects.count() == 0
