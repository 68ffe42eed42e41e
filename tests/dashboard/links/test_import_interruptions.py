"""Imports of links in Chromium that lose a response, their session or the service, or that the user stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Dialog, expect

from accounts.services import NewAccount
from links.models import Link
from testing.accounts.workspaces import team
from testing.pages.dashboard import session_cookie, sign_in
from testing.pages.waiting import wait_until
from testing.polling import DEADLINE
from tests.dashboard.links.import_page import choose, open_import, plain, status

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
IMPORT = "**/api/urls/import"


def test_lost_response_imports_no_row_twice(signed_in: Callable[..., Any], address: str) -> None:
    calls: list[Any] = []

    def lose_second(route: Any) -> None:
        calls.append(route)
        if len(calls) == 2:
            route.fetch(timeout=1000 * DEADLINE)
            route.abort("connectionreset")
        else:
            route.continue_()

    with signed_in() as visit:
        page = open_import(visit, address)
        choose(page, plain(450))
        expect(status(page)).to_contain_text("450 can be imported")
        page.route(IMPORT, lose_second)
        # The banner stays until the test has seen it: the page asks again after a few seconds.
        page.route("**/api/auth/me", lambda route: route.abort("connectionrefused"))
        page.get_by_role("button", name="Import 450 links").click()
        expect(page.locator(".import")).to_have_attribute("data-phase", "paused")
        expect(status(page)).to_contain_text("200 of 450 links are imported")
        expect(page.locator("[data-state=away]")).to_be_visible()
        page.unroute("**/api/auth/me")
        page.get_by_role("button", name="Continue").click()
        expect(status(page)).to_have_text("450 links were imported, 0 rejected.")
    addresses = [link.original_url for link in Link.objects.all()]
    assert sorted(addresses) == sorted(f"https://example.com/{number}" for number in range(450))


def test_import_goes_on_after_the_session_has_ended(
    browse: Callable[[], Any], address: str, alice: NewAccount
) -> None:
    first, second = session_cookie(alice.user), session_cookie(alice.user)
    with browse() as visit:
        sign_in(visit, address, first)
        page = open_import(visit, address)
        choose(page, plain(3))
        expect(page.get_by_role("button", name="Import 3 links")).to_be_visible()
        # The page still has a token of the session that ends.
        assert page.request.post(f"{address}/dashboard/session/end", headers={"Origin": address}).ok
        page.get_by_role("button", name="Import 3 links").click()
        expect(page.locator("[data-state=signed-out]")).to_be_visible()
        expect(page.locator(".import")).to_have_attribute("data-phase", "paused")
        sign_in(visit, address, second)
        page.locator("[data-state=signed-out]").get_by_role("button", name="Continue").click()
        expect(page.locator("[data-state=signed-out]")).to_have_count(0)
        page.locator(".import").get_by_role("button", name="Continue").click()
        expect(status(page)).to_have_text("3 links were imported, 0 rejected.")
        assert visit.errors(401) == []
    assert Link.objects.count() == 3


def test_import_is_stopped_and_continued(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    team(alice)
    held: list[Any] = []
    questions: list[str] = []

    def stay(dialog: Dialog) -> None:
        questions.append(dialog.type)
        dialog.dismiss()

    with signed_in() as visit:
        page = open_import(visit, address)
        page.on("dialog", stay)
        choose(page, plain(300))
        expect(status(page)).to_contain_text("300 can be imported")
        page.route(IMPORT, lambda route: held.append(route), times=1)  # noqa: PLW0108 # Playwright reads its signature
        page.get_by_role("button", name="Import 300 links").click()
        page.get_by_role("button", name="Stop").click()
        expect(status(page)).to_contain_text("The import stops after the current batch.")
        wait_until(page, lambda: held)
        held[0].continue_()
        expect(status(page)).to_contain_text("200 of 300 links are imported")
        # The browser asks before it leaves the page. A user who stays can choose the same workspace again.
        switch = page.get_by_role("combobox", name="Workspace", exact=True)
        for count in (1, 2):
            switch.select_option(label="Team")
            wait_until(page, lambda count=count: len(questions) >= count)
            expect(switch.locator("option:checked")).to_have_text("Personal")
        assert questions == ["beforeunload"] * 2
        # Other pages of the dashboard do not end the import.
        page.get_by_role("link", name="Domains").click()
        expect(page.get_by_role("heading", name="Domains")).to_be_visible()
        page.get_by_role("link", name="Links", exact=True).click()
        page.get_by_role("button", name="Import").click()
        page.get_by_role("button", name="Continue").click()
        expect(status(page)).to_have_text("300 links were imported, 0 rejected.")
        assert visit.errors() == []
    assert Link.objects.count() == 300


def test_check_is_repeated_after_an_outage(signed_in: Callable[..., Any], address: str) -> None:
    with signed_in() as visit:
        page = open_import(visit, address)
        page.route(IMPORT, lambda route: route.abort("connectionrefused"), times=1)
        choose(page, plain(2))
        expect(status(page)).to_have_text("The file was not checked, and nothing was changed.")
        page.get_by_role("button", name="Check again").click()
        expect(status(page)).to_contain_text("2 rows: 2 can be imported")
    assert not Link.objects.exists()
