"""The states of links in Chromium: a filter for each, where a changed link leads, and the ban that its owner sees."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import expect
from rest_framework.test import APIClient

from accounts.services import NewAccount
from links.models import Link, LinkHealth
from links.operators import ban_link
from testing.links.calls import put
from tests.dashboard.links_page import rows, status

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_the_owner_of_a_banned_link_reads_of_the_ban(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    banned = make_link(customCode="banned")
    make_link(customCode="fine")
    ban_link(link=Link.objects.get(custom_code="banned"))
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        expect(rows(page)).to_have_count(2)
        expect(page.get_by_text("has blocked 1 of these links")).to_be_visible()
        page.get_by_role("button", name="Show blocked links").click()
        expect(status(page)).to_have_text("1 link")
        expect(page.get_by_role("button", name="Remove the filter: Status")).to_be_visible()
        page.goto(f"{address}/dashboard/links/{banned['_id']}")
        expect(page.get_by_text("The operator of this service has blocked this link.")).to_be_visible()
        page.get_by_role("link", name="History").click()
        expect(page.locator("[data-change]")).to_contain_text("Link blocked by an operator")
        # The visitor does not read that the owner has disabled it.
        assert page.request.get(f"{address}/banned").status == 410
        assert "This link has been disabled." in page.request.get(f"{address}/banned").text()
        assert visit.errors() == []


@pytest.mark.parametrize(
    ("name", "code"),
    [("Active", "active"), ("Not started", "later"), ("Expired", "over"), ("Switched off", "off")],
)
def test_the_list_is_filtered_by_status(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink, name: str, code: str
) -> None:
    make_link(customCode="active")
    make_link(customCode="later", startsAt="2040-01-01")
    make_link(customCode="over", expiresAt="2001-01-01")
    make_link(customCode="off", isActive=False)
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        expect(status(page)).to_have_text("4 links")
        page.get_by_role("button", name="Filter", exact=True).click()
        page.get_by_label("Status").select_option(name)
        expect(status(page)).to_have_text("1 link")
        expect(rows(page)).to_contain_text(code)
        assert visit.errors() == []


def test_a_row_shows_where_its_link_leads_now_and_a_search_finds_it(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink
) -> None:
    put(api, make_link("https://example.com/old"), targetUrl="https://example.com/new-place")
    make_link("https://example.com/other")
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/?search=new-place")
        expect(status(page)).to_have_text("1 link")
        expect(rows(page)).to_contain_text("example.com/new-place")
        assert visit.errors() == []


def test_what_is_wrong_with_destinations_is_in_words(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    made = {status: make_link(title=status) for status in ("healthy", "dead", "blocked")}
    for link in Link.objects.all():
        LinkHealth.objects.create(
            link=link,
            owner_id=link.owner_id,
            status=link.title,
            failing_since=datetime(2030, 1, 5, 9, 30, tzinfo=UTC),
        )
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        expect(rows(page)).to_have_count(3)
        shown = {one: page.locator(f"[data-link='{link['_id']}'] .of-state") for one, link in made.items()}
        expect(shown["healthy"]).to_have_text("Active")
        expect(shown["dead"]).to_have_text(re.compile("^ActiveDestination dead since Jan 5, 2030"))
        expect(shown["blocked"]).to_have_text("ActiveRefuses checks")
        page.goto(f"{address}/dashboard/links/{made['dead']['_id']}")
        expect(page.get_by_label("Destination URL")).to_have_accessible_description(
            re.compile("^Destination dead since Jan 5, 2030")
        )
        page.goto(f"{address}/dashboard/workspaces")
        page.get_by_role("link", name="Settings of Personal").click()
        page.get_by_label("Check whether the destination answers").select_option(label="Daily")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Workspace saved")).to_be_visible()
        assert visit.errors() == []
    alice.workspace.refresh_from_db()
    assert alice.workspace.health_check == "daily"
