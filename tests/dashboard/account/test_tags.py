"""Tags and UTM templates in Chromium: changing them, filtering by tags, and the templates of new links."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import expect
from rest_framework.test import APIClient

from accounts.rights import Role
from accounts.services import NewAccount
from links.models import Link
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.analytics.facts import Fact, record

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
URL = "https://example.com/"


def test_a_tag_is_renamed_merged_coloured_and_deleted(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink
) -> None:
    record(make_link(tags=["sping", "mail"])["_id"], [Fact(datetime.now(UTC).isoformat(), count=3)])
    make_link(tags=["spring"])
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/tags")
        tags = page.locator("[data-tag] .tag")
        expect(tags).to_have_text(["mail", "sping", "spring"])
        expect(page.locator("[data-tag] small")).to_contain_text(
            [f"{n} clicks in 30 days" for n in (3, 3, 0)]
        )
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


def test_links_are_filtered_by_all_any_and_none_of_their_coloured_tags(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink
) -> None:
    for tags in (["spring", "sale"], ["Spring"], ["sale", "print"], []):
        make_link(title=" and ".join(tags) or "none", tags=tags)
    api.patch("/api/tags/spring", {"color": "#FFFF00"})
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        titles, chips = page.locator("tr[data-link] .title"), page.locator(".chip-filter")
        expect(titles).to_have_count(4)
        # The colour stands beside the name, whatever the spelling of the link, and is dark enough to be seen on white.
        dots = page.locator("tr[data-link] .tag", has_text="pring").evaluate_all(
            "all => all.map(tag => getComputedStyle(tag, '::before').backgroundColor)"
        )
        assert len(dots) == 2
        assert {dot.startswith("oklch(0.62 ") for dot in dots} == {True}
        page.get_by_role("button", name="Filter", exact=True).click()
        field = page.get_by_role("combobox", name="Tags", exact=True)
        field.click()
        field.press_sequentially("s")
        options = page.get_by_role("listbox").get_by_role("option")
        # The most used come first.
        expect(options).to_have_text(["sale", "Spring"])
        expect(options.last.locator("span")).to_have_class("tag own")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(chips).to_have_text(["Tag sale"])
        expect(titles).to_have_text(["sale and print", "spring and sale"])
        field.press_sequentially("SPRING,")
        expect(titles).to_have_text(["sale and print", "Spring", "spring and sale"])
        page.locator("[name=tagsMode]").select_option("all of the tags")
        expect(titles).to_have_text(["spring and sale"])
        page.get_by_role("combobox", name="Without these tags").fill("print")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{address}/dashboard/?tags=sale%2CSPRING&tagsMode=all&excludeTags=print")
        page.reload()
        expect(chips).to_have_text(
            ["Tag sale", "Tag SPRING", "Without tag print", "Links with all of the tags"]
        )
        page.get_by_role("button", name="Save view").click()
        page.get_by_label("Name").fill("Campaign")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_role("link", name="Campaign")).to_have_attribute("aria-current", "page")
        page.get_by_role("button", name="Remove the filter: Links with").click()
        expect(titles).to_have_text(["Spring", "spring and sale"])
        page.get_by_role("button", name="Remove the filter: Tag sale").click()
        page.get_by_role("button", name="Remove the filter: Tag SPRING").click()
        expect(titles).to_have_text(["none", "Spring", "spring and sale"])
        page.get_by_role("link", name="Campaign").click()
        expect(chips).to_have_count(4)
        expect(titles).to_have_text(["spring and sale"])
        assert visit.errors() == []
    [view] = api.get("/api/views").json()["data"]["views"]
    assert view["filters"] == {"tags": "sale,SPRING", "tagsMode": "all", "excludeTags": "print"}


def test_a_template_decides_about_a_pasted_list_and_an_import(
    signed_in: Callable[..., Any], address: str, api: APIClient
) -> None:
    allowed = {"source": ["newsletter", "shop"]}
    template = {"name": "Newsletter", "values": {"source": "newsletter", "medium": "mail"}}
    assert api.post("/api/utm-templates", template | {"allowedValues": allowed}).status_code == 201
    refusal = "The template Newsletter allows only newsletter and shop."
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/new/many")
        page.get_by_label("Destinations").fill("example.com/1\nno address\nexample.com/2")
        page.get_by_label("Template").select_option("Newsletter")
        expect(page.get_by_label("Medium")).to_have_value("mail")
        page.get_by_label("Source").fill("elsewhere")
        page.get_by_role("button", name="Create 3 links").click()
        # What concerns all lines is said once, at its field; the line that is wrong itself is named.
        expect(page.locator("#utm-source-about")).to_have_text(refusal)
        expect(page.locator(".note.warn li")).to_have_count(1)
        expect(page.locator(".note.warn li")).to_contain_text("no address: ")
        expect(page.get_by_label("Destinations")).to_have_value("example.com/1\nno address\nexample.com/2")
        page.get_by_label("Source").fill("shop")
        page.get_by_label("Destinations").fill("example.com/1\nexample.com/2")
        page.get_by_role("button", name="Create 2 links").click()
        expect(page.locator(".made > li")).to_have_count(2)
        page.goto(f"{address}/dashboard/import")
        rows = "originalUrl,utm_source\nhttps://example.com/3,\nhttps://example.com/4,elsewhere\n"
        file = {"name": "links.csv", "mimeType": "text/csv", "buffer": rows.encode()}
        page.locator("input[type=file]").set_input_files([file])
        expect(page.locator(".import [role=status]")).to_contain_text("2 rows")
        page.get_by_label("Template").select_option("Newsletter")
        expect(page.locator("[data-row='2'] .error")).to_have_text(f"utm.source: {refusal}")
        page.get_by_role("button", name="Import 1 link").click()
        expect(page.locator("[data-row='1'][data-state=imported]")).to_be_visible()
        assert visit.errors() == []
    made = Link.objects.order_by("original_url").values_list("original_url", "utm")
    assert list(made) == [
        ("https://example.com/1", {"source": "shop", "medium": "mail"}),
        ("https://example.com/2", {"source": "shop", "medium": "mail"}),
        ("https://example.com/3", {"source": "newsletter", "medium": "mail"}),
    ]


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
