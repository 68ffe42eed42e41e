"""Archived links in Chromium: from the editor into the filter of the list, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from rest_framework.test import APIClient

from links.models import Link
from testing.links.calls import put
from tests.dashboard.links.editor_page import MakeLink, open_link
from tests.dashboard.links_page import links as links
from tests.dashboard.links_page import rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def choose(page: Page, name: str) -> None:
    """An item of the open menu."""
    page.locator("[popover]:popover-open").get_by_text(name, exact=True).click()


def archived_titles() -> list[str | None]:
    return sorted(Link.objects.filter(is_archived=True).values_list("title", flat=True))


def test_a_link_goes_from_the_editor_into_the_archive_and_back(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(title="Old")
    make_link(title="New")
    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.get_by_label("Description").fill("typed")
        page.get_by_role("button", name="More", exact=True).click()
        choose(page, "Archive")
        expect(page.locator(".head .state", has_text="Archived")).to_be_visible()
        expect(page.get_by_text("Link archived. It still works.")).to_be_visible()
        # What was typed is neither saved nor lost.
        expect(page.get_by_label("Description")).to_have_value("typed")
        expect(page.locator(".savebar")).to_be_visible()
        page.get_by_role("button", name="Discard").click()
        page.goto(f"{address}/dashboard/")
        expect(rows(page)).to_have_count(1)
        expect(rows(page).get_by_text("New", exact=True)).to_be_visible()
        page.get_by_role("button", name="Filter", exact=True).click()
        page.get_by_label("Archived links").select_option("Only these")
        expect(rows(page).get_by_text("Archived", exact=True)).to_be_visible()
        expect(page.locator(".chip-filter")).to_contain_text("Only these")
        rows(page).get_by_role("button", name="More about").click()
        choose(page, "Unarchive")
        expect(rows(page)).to_have_count(0)
        page.get_by_role("button", name="Remove the filter: Archived links").click()
        expect(rows(page)).to_have_count(2)
        page.goto(f"{address}/dashboard/links/{link['_id']}/history")
        expect(page.get_by_text("Link unarchived")).to_be_visible()
        expect(page.get_by_text("Link archived")).to_be_visible()
        assert visit.errors() == []
    assert Link.objects.filter(is_archived=False, description=None).count() == 2


def test_selected_links_are_archived_and_an_undo_brings_them_back(
    signed_in: Callable[..., Any], address: str, links: None
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/?search=title+1")
        expect(rows(page)).to_have_count(10)
        page.get_by_label("Select all links of this page").check()
        page.get_by_role("button", name="Archive", exact=True).click()
        expect(page.get_by_text("10 links archived. They still work.")).to_be_visible()
        expect(rows(page)).to_have_count(0)
        expect(page.locator(".selection")).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("10 links unarchived")).to_be_visible()
        expect(rows(page)).to_have_count(10)
        assert visit.errors() == []
    assert archived_titles() == []


def test_a_workspace_whose_links_are_all_archived_is_no_empty_one(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink
) -> None:
    put(api, make_link(title="Old"), isArchived=True)
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        expect(page.get_by_text("The only link is archived.")).to_be_visible()
        with page.expect_download() as saved:
            page.get_by_role("button", name="Export as CSV").click()
        assert "Old" in saved.value.path().read_text()
        page.get_by_role("button", name="Show archived links").click()
        expect(rows(page)).to_have_count(1)
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Find links").fill("old")
        expect(page.get_by_role("dialog").get_by_text("Old", exact=True)).to_be_visible()
        assert visit.errors() == []
    assert archived_titles() == ["Old"]
