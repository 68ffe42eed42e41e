"""Tags and UTM templates in Chromium: renaming, merging, colouring and deleting, and the template of a link."""

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

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
URL = "https://example.com/"


def test_a_tag_is_renamed_merged_coloured_and_deleted(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink
) -> None:
    make_link(tags=["sping", "mail"])
    make_link(tags=["spring"])
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/tags")
        tags = page.locator("[data-tag] .tag")
        expect(tags).to_have_text(["mail", "sping", "spring"])
        page.get_by_role("button", name="Actions for sping").click()
        page.get_by_role("button", name="Rename or colour").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("Spring")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_role("alert")).to_contain_text("exists already")
        dialog.get_by_role("button", name="Merge").click()
        expect(tags).to_have_text(["mail", "spring"])
        page.get_by_role("button", name="Actions for mail").click()
        page.get_by_role("button", name="Rename or colour").click()
        dialog.get_by_label("Own colour").check()
        dialog.get_by_label("Colour", exact=True).fill("#b83280")
        dialog.get_by_label("Name").fill("E-mail")
        dialog.get_by_role("button", name="Save").click()
        expect(tags).to_have_text(["E-mail", "spring"])
        page.get_by_role("button", name="Actions for spring").click()
        page.get_by_role("button", name="Delete from all links").click()
        expect(tags).to_have_text(["E-mail"])
        page.get_by_role("button", name="Undo").last.click()
        expect(tags).to_have_text(["E-mail", "spring"])
        assert visit.errors(409) == []
    assert api.get("/api/tags/e-mail").json()["data"]["tag"]["color"] == "#B83280"


def test_a_template_is_created_and_decides_about_a_link(signed_in: Callable[..., Any], address: str) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/utm-templates")
        form = page.get_by_role("region", name="New template")
        form.get_by_label("Name").fill("Newsletter")
        form.locator("[name='values.source']").fill("newsletter")
        form.locator("[name='new-allowed-source']").fill("newsletter, shop")
        form.locator("[name='new-allowed-source']").press("Enter")
        form.get_by_role("button", name="Create template").click()
        expect(page.locator("[data-template]")).to_contain_text("newsletter (only newsletter, shop)")
        page.goto(f"{address}/dashboard/new")
        page.locator("[name=originalUrl]").fill(URL)
        page.locator("summary", has_text="Campaign").click()
        page.locator("[name=utmTemplateId]").select_option(label="Newsletter")
        expect(page.locator("[name=utm_source]")).to_have_value("newsletter")
        page.locator("[name=utm_source]").fill("Newsletter")
        page.keyboard.press("Control+s")
        expect(page.locator("#utm-source-about")).to_have_text(
            "The template Newsletter allows only newsletter and shop."
        )
        page.locator("[name=utm_source]").fill("shop")
        page.keyboard.press("Control+s")
        expect(page.get_by_text("Link created")).to_be_visible()
        assert visit.errors(400) == []
    assert Link.objects.get().utm == {"source": "shop"}


def test_viewers_only_look(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    owner = key_client_in(workspace, alice.api_key)
    owner.post("/api/urls", {"originalUrl": URL, "tags": ["sale"]})
    owner.post("/api/utm-templates", {"name": "Theirs"})
    add_member(workspace, stranger, Role.VIEWER)
    with signed_in(stranger) as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/tags?workspace={workspace.public_id}")
        expect(page.locator("[data-tag]")).to_have_count(1)
        expect(page.get_by_role("button", name="Actions for sale")).to_have_count(0)
        page.goto(f"{address}/dashboard/utm-templates?workspace={workspace.public_id}")
        expect(page.locator("[data-template]")).to_have_text("Theirs")
        expect(page.get_by_role("button", name="Create template")).to_have_count(0)
        assert visit.errors() == []
