"""The history in Chromium: who changed what, restoring former values, and bringing deleted links back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from rest_framework.test import APIClient

from accounts.rights import Role
from accounts.services import NewAccount
from links.models import Link
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.links.calls import put

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_former_values_are_restored(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(title="Sale", tags=["spring"])
    put(api, link, title="Spring sale", tags=[])
    put(api, link, isActive=False)
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/links/{link['_id']}")
        page.get_by_role("link", name="History").click()
        rows = page.locator("[data-change]")
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("Active")
        expect(rows.first.locator("del")).to_have_text("yes")
        expect(rows.first.locator("ins")).to_have_text("no")
        expect(rows.last).to_contain_text("Ada Lovelace")
        expect(rows.last.locator("del", has_text="Sale")).to_have_text("Sale")
        expect(rows.last.locator("ins", has_text="sale")).to_have_text("Spring sale")
        rows.last.get_by_role("button", name="Restore").click()
        expect(page.get_by_text("Former values restored")).to_be_visible()
        # The history records the restoration as a new change.
        expect(rows).to_have_count(3)
        assert visit.errors() == []
    stored = Link.objects.get(public_id=link["_id"])
    assert (stored.title, stored.tags, stored.is_active) == ("Sale", ["spring"], False)


def test_a_deleted_link_is_brought_back(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring", title="Sale")
    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/account")
        page.get_by_role("link", name="History").click()
        page.get_by_label("Changes").select_option(label="Link deleted")
        page.wait_for_url(f"{address}/dashboard/history?action=link.deleted")
        expect(page.locator("[data-change]")).to_have_count(1)
        expect(page.locator("[data-change]")).to_contain_text("Link deleted Sale")
        page.get_by_role("button", name="Bring back").click()
        expect(page.locator(".toast")).to_contain_text("Link brought back")
        # This list does not say that the link is back, but the API does.
        page.get_by_role("button", name="Bring back").click()
        expect(page.locator(".toast[data-kind=failed]")).to_contain_text("is no longer deleted")
        page.get_by_label("Changes").select_option(label="All")
        undeleted = page.locator("[data-action='link.undeleted']")
        expect(undeleted).to_have_count(1)
        # The deletion is over, so nobody can undo it again.
        expect(page.get_by_role("button", name="Bring back")).to_have_count(0)
        undeleted.get_by_role("link", name="Open the link").click()
        expect(page.locator("form.editor[data-link]")).to_be_visible()
        assert visit.errors(404) == []
    assert Link.objects.get().custom_code == "spring"


def test_a_taken_code_is_reported_until_the_message_is_dismissed(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")
    put(api, link, customCode="summer")
    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    make_link(customCode="summer")
    with signed_in() as visit:
        page, failed = visit.page, visit.page.locator(".toast[data-kind=failed]")
        page.clock.install()
        page.goto(f"{address}/dashboard/links/{link['_id']}/history")
        page.get_by_role("button", name="Bring back").click()
        expect(failed).to_contain_text("summer")
        page.clock.fast_forward("01:00:00")
        expect(failed).to_have_count(1)
        earlier = failed.element_handle()
        page.get_by_role("button", name="Bring back").click()
        # A new element: screen readers announce the same message again.
        earlier.wait_for_element_state("hidden")
        expect(failed).to_have_count(1)
        failed.get_by_role("button").click()
        expect(failed).to_have_count(0)
        assert visit.errors(409) == []
    assert Link.objects.count() == 1


def test_more_changes_are_loaded_on_request(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    for number in range(25):
        put(api, link, title=f"Title {number}")
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/links/{link['_id']}/history")
        expect(page.locator("[data-change]")).to_have_count(20)
        page.get_by_role("button", name="Show more").click()
        expect(page.locator("[data-change]")).to_have_count(25)
        expect(page.get_by_role("button", name="Show more")).to_have_count(0)
        expect(page.locator("[data-change]").first).to_contain_text("Title 24")
        expect(page.locator("[data-change]").last).to_contain_text("Title 0")
        assert visit.errors() == []


def test_a_viewer_reads_the_history_of_a_link_and_restores_nothing(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.VIEWER)
    team_api = key_client_in(workspace, alice.api_key)
    link = team_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    put(team_api, link, title="Spring sale")
    with signed_in(stranger) as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/links/{link['_id']}/history?workspace={workspace.public_id}")
        expect(page.locator("[data-change]")).to_have_count(1)
        expect(page.locator("[data-change]")).to_contain_text("Spring sale")
        expect(page.get_by_role("button", name="Restore")).to_have_count(0)
        # The history of the whole workspace is for its admins.
        page.goto(f"{address}/dashboard/history?workspace={workspace.public_id}")
        expect(page.get_by_role("alert")).to_contain_text("admin")
        assert visit.errors(403) == []


def test_a_stranger_reads_no_history(
    signed_in: Callable[..., Any],
    address: str,
    api: APIClient,
    stranger: NewAccount,
    make_link: MakeLink,
) -> None:
    link = make_link(title="Hidden")
    put(api, link, title="Hidden plans")
    with signed_in(stranger) as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/links/{link['_id']}/history")
        expect(page.get_by_role("alert")).to_have_text("This link does not exist or was deleted.")
        page.goto(f"{address}/dashboard/history")
        expect(page.locator("[data-action='key.created']")).to_have_count(1)
        expect(page.locator("[data-change]")).to_have_count(1)
        assert "Hidden" not in page.content()
        assert visit.errors(404) == []
