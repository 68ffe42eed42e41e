"""Saved views, the density of the list, and its sparklines, in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect
from rest_framework.test import APIClient

from accounts.rights import Role
from accounts.services import NewAccount
from links.models import SavedView
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.analytics.facts import Fact, record
from testing.threads import at_once
from tests.dashboard.links_page import links as links
from tests.dashboard.links_page import rows

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
NOW = datetime.now(UTC)


def test_a_view_is_saved_opened_renamed_and_deleted(
    signed_in: Callable[..., Any], address: str, links: None
) -> None:
    with signed_in() as visit:
        page = visit.page
        tabs = page.get_by_role("navigation", name="Saved views").get_by_role("link")
        page.goto(f"{address}/dashboard/")
        expect(rows(page)).to_have_count(50)
        expect(tabs).to_have_text(["All links"])
        # There is nothing to save yet.
        expect(page.get_by_role("button", name="Save view")).to_have_count(0)
        page.goto(
            f"{address}/dashboard/?tags=even&sortBy=title&sortOrder=asc&from=2026-01-31&until=2098-02-28"
        )
        expect(rows(page)).to_have_count(30)
        page.get_by_role("button", name="Save view").click()
        expect(page.get_by_role("dialog").get_by_label("Name")).to_be_focused()
        page.keyboard.type("Even numbers")
        page.keyboard.press("Enter")
        expect(tabs).to_have_text(["All links", "Even numbers"])
        expect(tabs.last).to_have_attribute("aria-current", "page")
        tabs.first.click()
        expect(rows(page)).to_have_count(50)
        tabs.last.click()
        expect(rows(page)).to_have_count(30)
        expect(rows(page).first).to_contain_text("Title 00")
        expect(page.locator(".chip-filter")).to_have_text(
            ["Tag even", "Created from Jan 31, 2026", "Created until Feb 28, 2098"]
        )
        # The view survives a reload, with the same address.
        page.reload()
        expect(tabs.last).to_have_attribute("aria-current", "page")
        page.get_by_role("button", name="More about the view").click()
        page.get_by_role("button", name="Rename view").click()
        page.get_by_role("dialog").get_by_label("Name").fill("Even")
        page.keyboard.press("Enter")
        expect(tabs).to_have_text(["All links", "Even"])
        # Its name replaces its filters.
        page.get_by_role("button", name="Remove the filter: Tag even").click()
        page.get_by_role("button", name="Save view").click()
        page.get_by_role("dialog").get_by_label("Name").fill("Even")
        page.keyboard.press("Enter")
        expect(tabs.last).to_have_attribute("aria-current", "page")
        [[view]] = at_once([lambda: list(SavedView.objects.all())])
        assert view.filters.keys() == {"createdFrom", "createdBefore", "sortBy", "sortOrder"}
        page.get_by_role("button", name="More about the view").click()
        page.get_by_role("button", name="Delete view").click()
        expect(tabs).to_have_text(["All links"])
        page.get_by_role("button", name="Undo").click()
        expect(tabs).to_have_text(["All links", "Even"])
        assert visit.errors() == []


def test_a_name_that_is_taken_meanwhile_is_refused_in_the_dialog(
    signed_in: Callable[..., Any], address: str, api: APIClient, links: None
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/?tags=even")
        expect(page.get_by_role("button", name="Save view")).to_be_visible()
        [created] = at_once([lambda: api.post("/api/views", {"name": "Even", "filters": {}})])
        assert created.status_code == 201
        page.get_by_role("button", name="Save view").click()
        page.get_by_role("dialog").get_by_label("Name").fill("Even")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("name already")
        assert visit.errors(409) == []


def test_members_see_the_views_of_their_team(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    api = key_client_in(workspace, alice.api_key)
    assert (
        api.post("/api/urls", {"originalUrl": "https://example.com/", "tags": ["spring"]}).status_code == 201
    )
    assert api.post("/api/views", {"name": "Spring", "filters": {"tags": "spring"}}).status_code == 201
    add_member(workspace, stranger, Role.VIEWER)
    with signed_in(stranger) as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/?workspace={workspace.public_id}")
        page.get_by_role("link", name="Spring", exact=True).click()
        expect(page.get_by_role("link", name="Spring", exact=True)).to_have_attribute("aria-current", "page")
        expect(rows(page)).to_have_count(1)
        expect(page.get_by_role("button", name="More about the view")).to_have_count(0)
        page.goto(f"{address}/dashboard/?search=example&workspace={workspace.public_id}")
        expect(rows(page)).to_have_count(1)
        expect(page.get_by_role("button", name="Save view")).to_have_count(0)
        assert visit.errors() == []


def test_the_density_is_remembered(signed_in: Callable[..., Any], address: str, links: None) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        expect(rows(page)).to_have_count(50)
        roomy = rows(page).first.bounding_box()
        page.get_by_role("button", name="One line for each link").click()
        page.reload()
        expect(rows(page)).to_have_count(50)
        expect(page.get_by_role("button", name="One line for each link")).to_have_attribute(
            "aria-pressed", "true"
        )
        compact = rows(page).first.bounding_box()
        assert (roomy["height"], compact["height"]) == (60, 40)
        page.get_by_role("button", name="Two lines for each link").click()
        assert rows(page).first.bounding_box()["height"] == 60
        assert visit.errors() == []


def test_rows_show_the_clicks_of_thirty_days_from_one_call(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    busy, quiet = make_link(title="Busy"), make_link(title="Quiet")
    days = (0, 0, 3, 29, 30)
    record(busy["_id"], [Fact(f"{NOW - timedelta(days=ago):%Y-%m-%d}T00:00:00Z") for ago in days])
    with signed_in() as visit:
        page = visit.page
        calls: list[str] = []
        page.on(
            "request",
            lambda request: calls.append(request.url) if "/api/analytics/sparklines" in request.url else None,
        )
        page.goto(f"{address}/dashboard/")
        line = page.locator(f"[data-link='{busy['_id']}']").get_by_role("img")
        expect(line).to_have_attribute("aria-label", "4 clicks in the last 30 days")
        expect(page.locator(f"[data-link='{quiet['_id']}']").get_by_role("img")).to_have_attribute(
            "aria-label", "0 clicks in the last 30 days"
        )
        path = line.locator("path").last.get_attribute("d")
        assert path is not None
        points = [tuple(map(float, point.split())) for point in path[1:].split("L")]
        # The first day, the day with one click, and today.
        assert (len(points), points[0], points[26][1], points[-1]) == (30, (0, 14), 14, (80, 1))
        assert {y for _, y in points[1:26]} == {27}
        # Further filters of the same links need no further call.
        page.get_by_label("Search").fill("Busy")
        expect(rows(page)).to_have_count(1)
        assert len(calls) == 1
        assert visit.errors() == []
