"""The page of deleted links in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from rest_framework.test import APIClient

from accounts.rights import Role
from accounts.services import NewAccount
from links.models import DeletedLink, Link
from testing.accounts.workspaces import add_member, key_client_in, team
from tests.dashboard.links_page import rows

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
DELETED = "[data-deleted]"


def test_a_deletion_leads_to_the_deleted_links_and_back(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    for name in ("spring", "summer"):
        make_link(f"https://example.com/{name}", customCode=name, title=name.title())
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        page.get_by_role("button", name="More about").last.click()
        page.get_by_role("button", name="Delete", exact=True).click()
        # The page deletes at once, instead of after the time for an undo.
        page.locator(".toast").get_by_role("button", name="Deleted links").click()
        page.wait_for_url(f"{address}/dashboard/deleted")
        expect(page.locator(DELETED)).to_have_count(1)
        expect(page.locator(DELETED)).to_contain_text("Spring")
        expect(page.locator(DELETED)).to_contain_text("7 days left")
        # The link of the navigation still names the list.
        expect(page.get_by_role("link", name="Links", exact=True)).to_have_attribute("aria-current", "page")
        page.get_by_role("button", name="Bring back", exact=False).click()
        expect(page.get_by_text("Nothing was deleted in the last 7 days.")).to_be_visible()
        page.locator(".toast").get_by_role("button", name="Open the link").click()
        expect(page.locator("form.editor[data-link]")).to_be_visible()
        page.goto(f"{address}/dashboard/")
        expect(rows(page)).to_have_count(2)
        page.get_by_role("button", name="Deleted links").click()
        expect(page.get_by_role("heading", name="Deleted links")).to_be_visible()
        assert visit.errors() == []
    assert Link.objects.count() == 2


def test_chosen_links_come_back_and_a_refused_one_says_why(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink
) -> None:
    links = [make_link(customCode=f"code{number}", title=f"Title {number}") for number in range(4)]
    for link in links:
        assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    make_link(customCode="code1")
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/deleted")
        expect(page.locator(DELETED)).to_have_count(4)
        page.get_by_label("Select all links of this page").check()
        expect(page.get_by_text("4 links selected")).to_be_visible()
        page.locator(DELETED).first.get_by_role("checkbox").uncheck()
        page.get_by_role("button", name="Bring back 3 links").click()
        expect(page.get_by_text("2 links brought back")).to_be_visible()
        failed = page.locator(".toast[data-kind=failed]")
        expect(failed).to_contain_text("/code1: ")
        expect(page.locator(DELETED)).to_have_count(2)
        assert visit.errors(409) == []
    assert DeletedLink.objects.count() == 2


def test_pages_turn(signed_in: Callable[..., Any], address: str, api: APIClient) -> None:
    urls = [
        {"originalUrl": f"https://example.com/{number}", "title": f"Title {number}"} for number in range(51)
    ]
    created = api.post("/api/urls/bulk", {"urls": urls}).json()["data"]["results"]
    ids = [result["url"]["_id"] for result in created]
    assert api.post("/api/urls/bulk-delete", {"ids": ids}).status_code == 200
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/deleted")
        expect(page.locator(DELETED)).to_have_count(50)
        expect(page.locator(".pages [role=status]")).to_have_text("51 links")
        page.get_by_role("button", name="Next").click()
        expect(page.locator(DELETED)).to_have_count(1)
        page.get_by_role("button", name="Bring back").click()
        expect(page.get_by_text("This page has no links any more.")).to_be_visible()
        page.get_by_role("link", name="Show the first page").click()
        expect(page.locator(DELETED)).to_have_count(50)
        assert visit.errors() == []


def test_a_viewer_sees_what_was_deleted(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    editor = key_client_in(workspace, alice.api_key)
    link = editor.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    assert editor.delete(f"/api/urls/{link['_id']}").status_code == 200
    add_member(workspace, stranger, Role.VIEWER)
    with signed_in(stranger) as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/deleted?workspace={workspace.public_id}")
        expect(page.locator(DELETED)).to_have_count(1)
        expect(page.get_by_text("Editors and admins can do that.")).to_be_visible()
        expect(page.get_by_role("button", name="Bring back")).to_have_count(0)
        assert visit.errors() == []


def test_an_outage_is_said_and_the_list_follows(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink
) -> None:
    assert api.delete(f"/api/urls/{make_link()['_id']}").status_code == 200
    with signed_in() as visit:
        page = visit.page
        page.route("**/api/**", lambda route: route.abort("connectionrefused"))
        page.goto(f"{address}/dashboard/deleted")
        expect(page.get_by_role("alert")).to_contain_text("could not be reached")
        page.unroute("**/api/**")
        expect(page.locator(DELETED)).to_have_count(1)
