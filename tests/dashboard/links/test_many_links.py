"""Many links from a pasted list, and changes of many links, in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from playwright.sync_api import expect
from rest_framework.test import APIClient

from links.models import Link
from tests.dashboard.links_page import links as links
from tests.dashboard.links_page import rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_a_campaign_of_pasted_addresses(signed_in: Callable[..., Any], address: str) -> None:
    pasted = "".join(f"example.com/{number}\tPage {number}\n" for number in range(50))
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/new")
        page.get_by_role("link", name="Many at once").click()
        page.get_by_label("Destinations").fill(f"{pasted}no address\n")
        page.get_by_label("Tags").fill("spring")
        page.get_by_label("Source").fill("newsletter")
        page.get_by_role("button", name="Create 51 links").click()
        expect(page.get_by_role("status").filter(has_text="50 links created")).to_be_visible()
        expect(page.locator(".made > li")).to_have_count(50)
        expect(page.get_by_role("alert")).to_contain_text(
            "1 line was not accepted. It is still in the field:"
        )
        # What was refused can be corrected.
        expect(page.get_by_label("Destinations")).to_have_value("no address")
        page.get_by_label("Destinations").fill("example.com/50\tPage 50")
        page.get_by_role("button", name="Create 1 link").click()
        expect(page.get_by_role("status").filter(has_text="51 links created")).to_be_visible()
        expect(page.get_by_label("Destinations")).to_have_value("")
        assert visit.errors() == []
    made = Link.objects.order_by("pk").values_list("original_url", "title", "tags", "utm")
    assert sorted(made) == sorted(
        (f"https://example.com/{number}", f"Page {number}", ["spring"], {"source": "newsletter"})
        for number in range(51)
    )


def test_destinations_expiry_and_campaign_of_many_links_change_at_once(
    signed_in: Callable[..., Any], address: str, api: APIClient, links: None
) -> None:
    template = {
        "name": "Letter",
        "values": {"source": "letter"},
        "allowedValues": {"medium": ["email", "post"]},
    }
    assert api.post("/api/utm-templates", template).status_code == 201
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/?search=title+1")
        expires_at = datetime.fromisoformat(page.evaluate("new Date('2099-01-01T05:45').toISOString()"))
        expect(rows(page)).to_have_count(10)
        page.get_by_label("Select all links of this page").check()
        page.get_by_role("button", name="Change …").click()
        dialog = page.get_by_role("dialog", name="Change 10 links")
        dialog.get_by_role("button", name="Change", exact=True).click()
        expect(dialog.get_by_role("alert")).to_have_text("Fill in what is to change.")
        dialog.get_by_label("Find").fill("example.org")
        dialog.get_by_role("button", name="Change", exact=True).click()
        expect(dialog.get_by_role("alert")).to_have_text("None of the destinations contains this text.")
        dialog.get_by_label("Find").fill("https://example.com/")
        dialog.get_by_label("Replace by").fill("https://example.net/new/")
        dialog.get_by_label("Expires at").fill("2099-01-01T05:45")
        dialog.get_by_label("Template").select_option("Letter")
        expect(dialog.get_by_label("Source")).to_have_value("letter")
        dialog.get_by_label("Medium").fill("mail")
        dialog.get_by_role("button", name="Change", exact=True).click()
        # The template refuses it for every link, so the reason is at the field.
        expect(dialog.get_by_text("The template Letter allows only email and post.")).to_be_visible()
        dialog.get_by_label("Medium").fill("post")
        dialog.get_by_role("button", name="Change", exact=True).click()
        expect(page.get_by_text("10 links changed")).to_be_visible()
        expect(dialog).to_have_count(0)
        assert visit.errors() == []
    changed = Link.objects.exclude(target_url=None).order_by("pk")
    assert [link.target_url for link in changed] == [f"https://example.net/new/{n}" for n in range(10, 20)]
    assert {link.expires_at for link in changed} == {expires_at}
    assert [link.utm for link in changed] == [{"source": "letter", "medium": "post"}] * 10
    assert Link.objects.filter(expires_at=None).count() == 50
