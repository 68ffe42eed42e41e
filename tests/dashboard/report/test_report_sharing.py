"""Shared reports in Chromium: the dialog that makes them, and the page that anybody sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from rest_framework.test import APIClient

from accounts.rights import Role
from accounts.services import NewAccount
from testing.accounts.workspaces import add_member, team
from testing.analytics.shared_reports import click_on
from testing.pages.axe import SCHEMES, WIDTHS, load_axe, problems_of
from testing.pages.dashboard import another_browser
from tests.dashboard.pages import WIDER

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def share(page: Page, address: str, **fields: str) -> str:
    """Create a page in the open dialog, and return its address on the server of the test."""
    dialog = page.get_by_role("dialog", name="Share this report")
    for label, text in fields.items():
        dialog.get_by_label(label).fill(text)
    expect(dialog.get_by_label("search engines")).to_be_checked()
    dialog.get_by_role("button", name="Create page").click()
    shown = dialog.locator(".secret")
    expect(shown).to_contain_text("/reports/")
    return address + shown.inner_text().removeprefix("http://sho.rt")


def check(page: Page) -> None:
    load_axe(page)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(WIDER) == []
        assert [problem for scheme in SCHEMES for problem in problems_of(page, scheme)] == []


def test_a_link_is_shared_read_and_revoked(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(title="Spring flyer")
    click_on(link["_id"])
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/links/{link['_id']}/report?range=7d")
        page.get_by_role("button", name="Share", exact=True).click()
        expect(page.get_by_role("dialog").get_by_label("Name")).to_have_count(0)
        check(page)
        shared = share(page, address, Password="open sesame")
        entry = page.locator("[data-share]")
        expect(entry).to_contain_text("Spring flyer")
        expect(entry).to_contain_text("Shared · Password · Last 7 days · made on ")
        reader = another_browser(visit)
        public = reader.page
        public.goto(shared)
        expect(public.get_by_role("heading")).to_have_text("Password required")
        public.get_by_label("Password").fill("open sesame")
        public.keyboard.press("Enter")
        expect(public.get_by_role("heading", level=1)).to_have_text("Spring flyer")
        expect(public.locator("dd").first).to_have_text("4")
        public.get_by_text("Clicks over time as a table").click()
        check(public)
        with public.expect_download() as download:
            public.get_by_role("button", name="Download as CSV").click()
        assert download.value.path().read_text().splitlines()[1] == "total,,4,3,false"
        assert public.context.cookies() == []
        entry.get_by_role("button").click()
        page.locator("dialog[open] .danger").click()
        expect(entry).to_have_count(0)
        expect(page.locator(".secret")).to_have_count(0)
        public.goto(shared)
        expect(public.get_by_role("heading")).to_have_text("No longer shared")
        assert reader.errors(401, 410) == []
        assert visit.errors() == []


def test_filters_are_shared_as_a_campaign(
    signed_in: Callable[..., Any],
    browse: Callable[[], Any],
    address: str,
    api: APIClient,
    make_link: MakeLink,
) -> None:
    link = make_link(title="Flyer")
    click_on(link["_id"])
    click_on(make_link(title="Other")["_id"])
    with signed_in() as visit:
        page = visit.page
        for path in ("analytics", f"links/{link['_id']}/report"):
            page.goto(f"{address}/dashboard/{path}?country=DE&range=7d&zone=UTC")
            page.get_by_role("button", name="Share", exact=True).click()
            shared = share(page, address, Name=f"Germany {path[:4]}")
            reader = another_browser(visit)
            reader.page.goto(shared)
            expect(reader.page.get_by_role("heading", level=1)).to_have_text(f"Germany {path[:4]}")
            expect(reader.page.locator("dd").first).to_have_text("6" if path == "analytics" else "3")
            assert reader.errors() == []
            # The campaign exists by now.
            page.reload()
            page.get_by_role("button", name="Share", exact=True).click()
            named = page.get_by_role("dialog").get_by_label("Name")
            expect(page.locator("[data-share]").first).to_be_visible()
            expect(named).to_have_count(0 if path == "analytics" else 1)
        page.goto(f"{address}/dashboard/links/{link['_id']}/report")
        page.get_by_role("button", name="Share", exact=True).click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("search engines").uncheck()
        dialog.get_by_role("button", name="Create page").click()
        expect(dialog.locator(".secret")).to_be_visible()
        assert visit.errors() == []
    shares = api.get("/api/analytics/shares").json()["data"]["shares"]
    assert [shared["noIndex"] for shared in shares] == [False, True, True]
    reports = [view["report"] for view in api.get("/api/views").json()["data"]["views"]]
    chosen = {"country": "DE", "period": "7d", "timezone": "UTC"}
    assert reports == [chosen, {**chosen, "urlIds": link["_id"]}]


def test_viewers_share_nothing(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.VIEWER)
    with signed_in(stranger) as visit:
        visit.page.goto(f"{address}/dashboard/analytics?workspace={workspace.public_id}")
        expect(visit.page.locator(".totals")).to_be_visible()
        expect(visit.page.get_by_role("button", name="Share", exact=True)).to_have_count(0)
        assert visit.errors() == []
