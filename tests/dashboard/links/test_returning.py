"""The list of links in Chromium keeps the place of its user, who goes back or turns the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from rest_framework.test import APIClient

from testing.links.many import URL, create_many
from tests.dashboard.links_page import links as links
from tests.dashboard.links_page import rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_back_returns_to_the_same_place_of_the_list(
    signed_in: Callable[..., Any], address: str, links: None
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        expect(rows(page)).to_have_count(50)
        row = page.get_by_role("link", name="Title 25")
        row.scroll_into_view_if_needed()
        before = page.evaluate("scrollY")
        row.click()
        expect(page.locator("form.editor[data-link]")).to_be_visible()
        assert page.evaluate("scrollY") == 0
        page.go_back()
        expect(rows(page)).to_have_count(50)
        assert page.evaluate("scrollY") == before > 1000
        assert visit.errors() == []


def test_the_button_that_turns_the_page_keeps_the_focus(
    signed_in: Callable[..., Any], address: str, api: APIClient, links: None
) -> None:
    create_many(api, [{"originalUrl": URL}] * 50)
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/?page=3")
        expect(rows(page)).to_have_count(10)
        previous = page.get_by_role("button", name="Previous")
        previous.press("Enter")
        expect(rows(page)).to_have_count(50)
        expect(page.get_by_text("Page 2 of 3")).to_be_visible()
        assert previous.evaluate("button => button === document.activeElement")
        assert visit.errors() == []
