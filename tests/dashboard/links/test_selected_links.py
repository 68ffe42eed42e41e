"""Links that are selected in the list, in Chromium: tagged, switched off, moved and deleted together."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Page, Route, expect

from accounts.services import NewAccount
from links.models import Link
from testing.accounts.workspaces import team
from testing.domains.domains import active_domain
from testing.pages.waiting import wait_until
from testing.polling import DEADLINE
from tests.dashboard.links_page import links as links
from tests.dashboard.links_page import rows, status

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def stop_clock(page: Page) -> None:
    """Timers of the page stand still until the test moves them, however busy the machine is."""
    page.clock.install(time=datetime(2030, 1, 1, tzinfo=UTC))
    page.clock.pause_at(datetime(2030, 1, 1, 0, 10, tzinfo=UTC))


def test_many_links_are_tagged_and_switched_off_at_once(
    signed_in: Callable[..., Any], address: str, links: None
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/?search=title+1")
        expect(rows(page)).to_have_count(10)
        page.get_by_label("Select all links of this page").check()
        expect(page.get_by_text("10 links selected")).to_be_visible()
        page.get_by_role("combobox", name="Tag", exact=True).fill("spring")
        page.get_by_role("button", name="Add tag").click()
        expect(page.get_by_text("10 links changed")).to_be_visible()
        expect(rows(page).first.get_by_text("spring")).to_be_visible()
        # Tags that only some of the links have can be removed from these; the others keep theirs.
        page.get_by_role("combobox", name="Tag", exact=True).fill("EVEN")
        page.get_by_role("button", name="Remove tag").click()
        expect(page.get_by_role("button", name="Show links with the tag even")).to_have_count(0)
        page.get_by_role("combobox", name="Tag", exact=True).fill("even")
        expect(page.get_by_role("button", name="Remove tag")).to_have_count(0)
        with page.expect_download() as saved:
            page.get_by_role("button", name="Export selected").click()
        exported = saved.value.path().read_text()
        assert (exported.count("even"), exported.count("spring"), exported.count("https://example.com/")) == (
            0,
            10,
            10,
        )
        page.get_by_role("button", name="Switch off").click()
        expect(page.locator(".state", has_text="Switched off")).to_have_count(10)
        assert visit.errors() == []
    changed = Link.objects.filter(title__startswith="Title 1")
    assert {(link.is_active, tuple(link.tags)) for link in changed} == {
        (False, ("spring",)),
    }
    assert Link.objects.filter(is_active=False).count() == 10


def test_selected_links_move_to_another_workspace(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    workspace = team(alice, "Marketing")
    brand = active_domain(alice.workspace)
    plain = make_link(customCode="plain")
    branded = make_link(customCode="branded", domainId=str(brand.public_id))
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        expect(rows(page)).to_have_count(2)
        page.get_by_label("Select all links of this page").check()
        page.get_by_role("button", name="Move to …").click()
        dialog = page.get_by_role("dialog", name="Move 2 links")
        expect(dialog.get_by_label("To the workspace").locator("option")).to_have_text(["Marketing"])
        dialog.get_by_role("button", name="Move", exact=True).click()
        # The dialog names the link that stays. It remains selected.
        expect(page.get_by_role("dialog").get_by_role("listitem")).to_have_text(
            "go.example/branded: The URL is on a custom domain of its workspace. "
            "It moves only together with this domain."
        )
        expect(page.get_by_text("1 link moved to \u2068Marketing\u2069")).to_be_visible()
        page.get_by_role("button", name="Close").click()
        expect(page.get_by_text("1 link selected")).to_be_visible()
        expect(rows(page)).to_have_count(1)
        assert visit.errors() == []
    owners = dict(Link.objects.values_list("public_id", "owner"))
    assert owners == {UUID(plain["_id"]): workspace.pk, UUID(branded["_id"]): alice.workspace.pk}


def test_the_outcome_of_a_move_is_not_lost(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    workspace = team(alice, "Marketing")
    brand = active_domain(alice.workspace)
    make_link(customCode="plain")
    make_link(customCode="branded", domainId=str(brand.public_id))
    held: list[Route] = []
    with signed_in() as visit:
        page = visit.page
        page.route("**/api/urls/move", lambda route: held.append(route))  # noqa: PLW0108 # Playwright reads its signature
        page.goto(f"{address}/dashboard/")
        expect(rows(page)).to_have_count(2)
        page.get_by_label("Select all links of this page").check()
        dialog, failed = page.get_by_role("dialog"), page.locator(".toast[data-kind=failed]")

        def move() -> Route:
            """Returns the call, which waits."""
            page.get_by_role("button", name="Move to …").click()
            dialog.get_by_role("button", name="Move", exact=True).click()
            wait_until(page, lambda: held)
            return held.pop()

        # The API moves one of the links, but its response is lost. Meanwhile, the user has closed the dialog.
        call = move()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        call.fetch(timeout=1000 * DEADLINE)
        call.abort("connectionreset")
        expect(failed).to_have_count(1)
        expect(rows(page)).to_have_count(1)
        expect(page.get_by_text("2 links selected")).to_be_visible()
        failed.get_by_role("button").click()
        expect(failed).to_have_count(0)

        # The second attempt does not find the link that was moved. It is no longer selected.
        move().continue_()
        expect(dialog.get_by_role("listitem")).to_have_count(2)
        page.keyboard.press("Escape")
        expect(page.get_by_text("1 link selected")).to_be_visible()

        # The selection ends before the response arrives.
        call = move()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Clear selection").click()
        expect(page.get_by_role("button", name="Move to …")).to_have_count(0)
        with page.expect_response(re.compile(r"/api/urls\?")):
            call.continue_()
        expect(failed).to_contain_text("1 link was not moved: go.example/branded: The URL is on")
    owners = dict(Link.objects.values_list("custom_code", "owner"))
    assert owners == {"plain": workspace.pk, "branded": alice.workspace.pk}


def test_a_deletion_can_be_undone(signed_in: Callable[..., Any], address: str, links: None) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/?search=title+1")
        expect(rows(page)).to_have_count(10)
        stop_clock(page)
        page.get_by_label("Select all links of this page").check()
        page.get_by_role("button", name="Delete", exact=True).click()
        expect(rows(page)).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(rows(page)).to_have_count(10)
        page.clock.run_for(60_000)
        expect(rows(page)).to_have_count(10)
        assert visit.errors() == []
    assert Link.objects.count() == 60


def test_a_deletion_takes_place_once_it_cannot_be_undone(
    signed_in: Callable[..., Any], address: str, links: None
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/?search=title+1")
        expect(rows(page)).to_have_count(10)
        stop_clock(page)
        rows(page).first.get_by_role("checkbox").check()
        page.get_by_role("button", name="Delete", exact=True).click()
        expect(rows(page)).to_have_count(9)
        with page.expect_response(re.compile("/api/urls/bulk-delete")) as deletion:
            page.clock.run_for(10_000)
        assert deletion.value.status == 200
        expect(status(page)).to_have_text("9 links")
        assert visit.errors() == []
    assert Link.objects.count() == 59
