"""Workspaces in Chromium: creating and choosing one, members, roles and invitations."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.invitations import invite
from accounts.models import Invitation, Workspace
from accounts.rights import Role
from accounts.services import NewAccount
from links.models import Link
from testing.accounts.workspaces import add_member, team
from testing.pages.browser import Visit
from testing.pages.dashboard import another_browser, session_cookie, sign_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
DESTINATION = "https://example.com/shared"


def open_page(visit: Visit, address: str, path: str) -> Page:
    visit.page.goto(f"{address}/dashboard/{path}")
    return visit.page


def shown_workspace(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Workspace", exact=True).locator("option:checked")


def choose(page: Page, name: str) -> None:
    """Choose a workspace, and wait until the page is loaded again."""
    with page.expect_event("load"):
        page.get_by_role("combobox", name="Workspace", exact=True).select_option(label=name)
    expect(shown_workspace(page)).to_have_text(name)


def confirm(page: Page, name: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=name).click()


def test_an_owner_changes_a_role_and_removes_the_member(
    browse: Callable[[], Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.VIEWER)
    Link.objects.create(owner=workspace, original_url=DESTINATION, short_code="shared")
    path, cookies = (
        f"workspaces/{workspace.public_id}",
        [session_cookie(alice.user), session_cookie(stranger.user)],
    )
    with browse() as visit:
        other = another_browser(visit)
        sign_in(other, address, cookies[1])
        open_page(other, address, "")
        choose(other.page, "Team")
        # A viewer creates nothing.
        expect(other.page.get_by_role("button", name="New link")).to_have_count(0)

        sign_in(visit, address, cookies[0])
        page = open_page(visit, address, path)
        row = page.locator("[data-member]").filter(has_text="mallory@example.com")
        row.get_by_role("combobox").select_option("editor")
        expect(page.get_by_text("Role changed")).to_be_visible()
        other.page.reload()
        expect(other.page.get_by_role("button", name="New link").first).to_be_visible()

        row.get_by_role("button", name="Remove").click()
        confirm(page, "Remove")
        expect(page.get_by_text("Member removed")).to_be_visible()
        expect(page.locator("[data-member]")).to_have_count(1)

        # The page of the former member says so as soon as it calls the API.
        other.page.get_by_label("Search").fill("anything")
        expect(other.page.locator("[data-state=no-member]")).to_be_visible()
        other.page.get_by_role("button", name="Go to my personal workspace").click()
        expect(other.page.locator("[data-state=no-member]")).to_have_count(0)
        expect(other.page.get_by_text("Make your first short link")).to_be_visible()
        assert visit.errors() == []
        assert other.errors(404) == []
    assert list(workspace.members.values_list("user__email", flat=True)) == ["alice@example.com"]


def test_the_last_owner_stays(signed_in: Callable[..., Any], address: str, alice: NewAccount) -> None:
    workspace = team(alice)
    with signed_in() as visit:
        page = open_page(visit, address, f"workspaces/{workspace.public_id}")
        own = page.locator("[data-member]").filter(has_text="alice@example.com")
        own.get_by_role("combobox").select_option("viewer")
        expect(page.get_by_text("A workspace must keep an owner.")).to_be_visible()
        expect(own.get_by_role("combobox")).to_have_value("owner")
        own.get_by_role("button", name="Leave").click()
        confirm(page, "Leave")
        expect(page.get_by_role("dialog")).to_contain_text("A workspace must keep an owner.")
        assert visit.errors(409) == []
    assert workspace.members.get().role == Role.OWNER


def test_a_member_leaves(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.ADMIN)
    with signed_in(stranger) as visit:
        page = open_page(visit, address, f"workspaces/{workspace.public_id}")
        # An admin cannot change the owner.
        owner = page.locator("[data-member]").filter(has_text="alice@example.com")
        expect(owner).to_contain_text("Owner")
        expect(owner.get_by_role("combobox")).to_have_count(0)
        page.get_by_role("button", name="Leave").click()
        confirm(page, "Leave")
        page.wait_for_url(f"{address}/dashboard/workspaces")
        expect(page.locator("[data-workspace]")).to_have_count(1)
        assert visit.errors() == []
    assert workspace.members.count() == 1


def test_an_invitation_is_withdrawn(signed_in: Callable[..., Any], address: str, alice: NewAccount) -> None:
    workspace = team(alice)
    invite(workspace=workspace, inviter=alice.user, role=Role.VIEWER, email="grace@example.com")
    with signed_in() as visit:
        page = open_page(visit, address, f"workspaces/{workspace.public_id}")
        page.get_by_role("button", name="Withdraw the invitation for grace@example.com").click()
        confirm(page, "Withdraw")
        expect(page.get_by_text("There are no pending invitations.")).to_be_visible()
        assert visit.errors() == []
    assert Invitation.objects.count() == 0


def test_a_workspace_is_renamed_and_deleted(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    workspace = team(alice)
    with signed_in() as visit:
        page = open_page(visit, address, f"workspaces/{workspace.public_id}")
        page.get_by_role("textbox", name="Name").fill("Sales")
        page.get_by_role("button", name="Rename").click()
        expect(page.get_by_role("heading", name="Sales")).to_be_visible()
        page.get_by_role("button", name="Delete the workspace").click()
        confirm(page, "Delete the workspace")
        page.wait_for_url(f"{address}/dashboard/workspaces")
        expect(page.locator("[data-workspace]")).to_have_count(1)
        assert visit.errors() == []
    assert list(Workspace.objects.values_list("account", flat=True)) == [alice.user.pk]


def test_a_workspace_with_links_is_not_deleted(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    workspace = team(alice)
    Link.objects.create(owner=workspace, original_url=DESTINATION, short_code="shared")
    with signed_in() as visit:
        page = open_page(visit, address, f"workspaces/{workspace.public_id}")
        page.get_by_role("button", name="Delete the workspace").click()
        confirm(page, "Delete the workspace")
        expect(page.get_by_role("dialog")).to_contain_text("The workspace still has links")
        assert visit.errors(409) == []
    assert Workspace.objects.filter(pk=workspace.pk).exists()


def test_a_stranger_sees_nothing_of_a_workspace(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice, "Secret plans")
    with signed_in(stranger) as visit:
        page = open_page(visit, address, f"workspaces/{workspace.public_id}")
        expect(page.get_by_role("alert")).to_have_text("Workspace not found.")
        assert re.search("Secret plans|alice@", page.content()) is None
        assert visit.errors(404) == []


def test_the_address_names_the_workspace(
    browse: Callable[[], Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice, "Marketing")
    Link.objects.create(owner=workspace, original_url=DESTINATION, short_code="shared")
    cookies = [session_cookie(alice.user), session_cookie(stranger.user)]
    with browse() as visit:
        sign_in(visit, address, cookies[0])
        page = open_page(visit, address, "")
        choose(page, "Marketing")
        assert page.url == f"{address}/dashboard/?workspace={workspace.public_id}"
        # Filters and other pages keep it, and so does a link that is opened in another tab.
        page.get_by_label("Search").fill("shared")
        page.wait_for_url(f"{address}/dashboard/?workspace={workspace.public_id}&search=shared")
        page.reload()
        expect(page.locator("tr[data-link]")).to_have_count(1)
        with page.context.expect_page() as opened:
            page.locator("tr[data-link] .title").click(modifiers=["ControlOrMeta"])
        tab = opened.value
        expect(tab.locator(".plate")).to_contain_text("sho.rt/shared")
        tab.get_by_role("button", name="New link").click()
        tab.wait_for_url(f"{address}/dashboard/new?workspace={workspace.public_id}")
        bookmarklet = tab.locator("a.bookmarklet").get_attribute("href")
        assert f"/dashboard/new?workspace={workspace.public_id}&url=" in (bookmarklet or "")
        # Another workspace in this tab changes nothing in the first one.
        choose(tab, "Personal")
        assert tab.url == f"{address}/dashboard/"
        page.reload()
        expect(shown_workspace(page)).to_have_text("Marketing")
        sent = page.url
        assert visit.errors() == []

        other = another_browser(visit)
        sign_in(other, address, cookies[1])
        for foreign in (sent, f"{address}/dashboard/?workspace=%C3%BC%0A"):
            other.page.goto(foreign)
            expect(other.page.locator("[data-state=no-member]")).to_be_visible()
            expect(other.page.get_by_role("alert")).to_have_text("Workspace not found.")
            # Nothing stays invisible, as until the role is known.
            expect(other.page.locator(".pending")).to_have_count(0)
        other.page.get_by_role("button", name="Go to my personal workspace").click()
        expect(other.page.get_by_text("Make your first short link")).to_be_visible()
        assert other.page.url == f"{address}/dashboard/"
        assert other.errors(404) == []
