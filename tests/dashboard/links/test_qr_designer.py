"""The designer of QR codes and the sheet with many of them, in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zipfile import ZipFile

import pytest
from playwright.sync_api import Locator, Page, expect
from rest_framework.test import APIClient

from qrcodes.models import QrCode, SavedDesign
from testing.pages.axe import SCHEMES, WIDTHS, load_axe, problems_of
from testing.pictures import decoded, file_of, logo, opened, pages, read
from tests.dashboard.links.editor_page import DESTINATION, MakeLink, open_link
from tests.dashboard.links_page import links as links
from tests.dashboard.links_page import rows
from tests.dashboard.pages import WIDER

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def open_designer(page: Page) -> Locator:
    page.get_by_role("button", name="Design", exact=True).click()
    return page.get_by_role("dialog")


def tab_to(page: Page, target: Locator) -> None:
    """A modal dialog keeps the focus inside, so Tab comes to each of its controls."""
    expect(target).to_be_visible()
    for _ in range(60):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"Tab never reaches {target}.")


def download(page: Page, name: str) -> tuple[str, bytes]:
    with page.expect_download() as saved:
        page.get_by_role("dialog").get_by_role("button", name=name, exact=True).click()
    return saved.value.suggested_filename, saved.value.path().read_bytes()


def test_codes_are_shown_and_downloaded_in_every_format(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(DESTINATION, title="Spring sale!")
    content = f"{link['shortUrl']}?qr=1"
    requests: list[tuple[str, str]] = []
    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.on("request", lambda request: requests.append((request.method, urlsplit(request.url).path)))
        dialog = open_designer(page)
        picture = dialog.get_by_role("img", name="QR code of the link")
        # The page draws it itself, in every style: nothing is stored for a preview.
        for style, level in product(("square", "rounded", "dots"), "LMQH"):
            dialog.get_by_label("Shape").select_option(style)
            dialog.get_by_label("Error correction").select_option(level)
            assert read(picture.screenshot(), "png") == [content], (style, level)
        dialog.get_by_label("Call to action").fill("Scan me")
        for place in ("Below the code", "Above the code"):
            dialog.get_by_label("Place of the text").select_option(place)
            assert read(picture.screenshot(), "png") == [content]
        assert [path for method, path in requests if method != "GET" and "/qr" in path] == []
        dialog.get_by_label("Printed width in mm").fill("60")
        expect(dialog.get_by_label("Size in pixels")).to_have_value("709")
        dialog.get_by_label("Resolution").select_option("150 dpi")
        expect(dialog.get_by_label("Size in pixels")).to_have_value("354")
        for name in ("PNG", "SVG", "PDF", "JPEG"):
            file_name, file = download(page, name)
            assert file_name == f"qr-{link['shortCode']}-Spring-sale.{name.lower()}"
            assert read(file, name.lower()) == [content]
            if name in ("PNG", "JPEG"):
                image = opened(file, "png")
                assert image.size == (354, 354 + 57)
                assert image.info["dpi"] == pytest.approx((150, 150), abs=1)
        assert visit.errors() == []


def test_weak_colours_are_said_while_they_are_chosen(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(DESTINATION)
    with signed_in() as visit:
        page = open_link(visit, address, link)
        dialog = open_designer(page)
        note = dialog.locator(".note.warn")
        color, background = dialog.locator("[name=foregroundColor]"), dialog.locator("[name=backgroundColor]")
        color.fill("#ffe08a")
        expect(note).to_have_text("The colour is too close to the background; scanners may not read it.")
        color.fill("#fafafa")
        expect(note).to_have_text("The colour is too close to the background; scanners cannot read it.")
        # The page says again what the API answers to those who try.
        dialog.get_by_role("button", name="PNG", exact=True).click()
        expect(page.get_by_text("scanners cannot read it").last).to_be_visible()
        background.fill("#000000")
        expect(note).to_have_text("The colour is lighter than the background; some scanners do not read it.")
        color.fill("#000000")
        background.fill("#ffffff")
        expect(note).to_have_count(0)
        assert visit.errors(400) == []
    assert not QrCode.objects.exists()


def test_designs_are_saved_chosen_changed_and_deleted(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink, tmp_path: Path
) -> None:
    first, second = make_link(DESTINATION), make_link("https://example.com/second")
    picture = tmp_path / "logo.png"
    picture.write_bytes(file_of(logo()))
    with signed_in() as visit:
        page = open_link(visit, address, first)
        dialog = open_designer(page)
        dialog.locator("[name=foregroundColor]").fill("#204080")
        dialog.get_by_label("Call to action").fill("Öffne mich")
        dialog.get_by_label("Logo").set_input_files(picture)
        expect(dialog.get_by_label("Error correction")).to_be_disabled()
        tab_to(page, dialog.get_by_role("button", name="Save as …"))
        page.keyboard.press("Enter")
        tab_to(page, dialog.get_by_label("Name of the design"))
        page.keyboard.type("Posters")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Design “Posters” saved")).to_be_visible()
        dialog.get_by_label("Default for new codes").check()
        chosen = dialog.get_by_label("Saved design")
        expect(chosen.locator("option:checked")).to_have_text("Posters (default)")
        # Another link without a code begins with the default design.
        page = open_link(visit, address, second)
        expect(page.locator(".live .qr-picture image")).to_have_count(1)
        dialog = open_designer(page)
        expect(dialog.get_by_label("Call to action")).to_have_value("Öffne mich")
        expect(dialog.locator("[name=foregroundColor]")).to_have_value("#204080")
        chosen = dialog.get_by_label("Saved design")
        chosen.select_option(label="Posters (default)")
        dialog.get_by_label("Call to action").fill("Scan me")
        dialog.get_by_role("button", name="Save design").click()
        # In the dialog: the rest of the page is inert, also for screen readers.
        message = dialog.get_by_role("status").filter(has_text="Design “Posters” saved")
        message.get_by_role("button", name="Dismiss").click()
        expect(message).to_have_count(0)
        # Other designs and links do not lose it: it is read again.
        chosen.select_option(label="None")
        dialog.get_by_label("Call to action").fill("Something else")
        chosen.select_option(label="Posters (default)")
        expect(dialog.get_by_label("Call to action")).to_have_value("Scan me")
        name, file = download(page, "PDF")
        assert name == f"qr-{second['shortCode']}.pdf"
        assert read(file, "pdf") == [f"{second['shortUrl']}?qr=1"]
        dialog.get_by_role("button", name="Save as …").click()
        dialog.get_by_label("Name of the design").fill("Posters")
        dialog.get_by_role("button", name="Save as a new design").click()
        expect(dialog.get_by_role("alert")).to_have_text(
            "Another saved design of the workspace has this name."
        )
        dialog.get_by_role("button", name="Delete design").click()
        page.get_by_role("dialog", name="Delete design").get_by_role("button", name="Delete design").click()
        expect(chosen.locator("option")).to_have_text(["None"])
        assert visit.errors(409) == []
    assert not SavedDesign.objects.exists()
    # The file of the deleted design is still there.
    code = QrCode.objects.get()
    assert (code.frame_text, code.has_logo) == ("Scan me", True)


def test_the_selected_links_are_printed_on_sheets(
    api: APIClient, signed_in: Callable[..., Any], address: str, links: None
) -> None:
    design = {"name": "Posters", "isDefault": True, "frameText": "Scan me", "foregroundColor": "#204080"}
    assert api.post("/api/qr-designs", design).status_code == 201
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/?search=title+1")
        expect(rows(page)).to_have_count(10)
        page.get_by_label("Select all links of this page").check()
        page.get_by_role("button", name="QR sheet").click()
        dialog = page.get_by_role("dialog", name="QR codes of 10 links")
        expect(dialog.get_by_label("Saved design").locator("option:checked")).to_have_text(
            "Posters (default)"
        )
        dialog.get_by_label("Codes side by side").select_option("4")
        with page.expect_download() as saved:
            dialog.get_by_role("button", name="Download").click()
        expect(dialog).to_have_count(0)
        page.get_by_role("button", name="QR sheet").click()
        dialog.get_by_label("Download as").select_option("SVG files (ZIP)")
        with page.expect_download() as packed:
            dialog.get_by_role("button", name="Download").click()
        with ZipFile(packed.value.path()) as file:
            assert len(file.namelist()) == 10
        assert visit.errors() == []
        [sheet] = pages(saved.value.path().read_bytes(), 200 / 72)
    codes = {f"http://sho.rt/code{number}?qr=1" for number in range(10, 20)}
    assert {urlsplit(code).path for code in decoded(sheet)} == {urlsplit(code).path for code in codes}
    assert not QrCode.objects.exists()


def test_a_sheet_takes_at_most_a_hundred_links(
    api: APIClient, signed_in: Callable[..., Any], address: str
) -> None:
    urls = [{"originalUrl": f"https://example.com/{number}"} for number in range(101)]
    assert api.post("/api/urls/bulk", {"urls": urls}).json()["data"]["succeeded"] == 101
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        page.get_by_label("Select all links of this page").check()
        page.get_by_role("button", name="Select all 101").click()
        expect(page.get_by_text("101 links selected")).to_be_visible()
        page.get_by_role("button", name="QR sheet").click()
        expect(page.get_by_role("dialog")).to_contain_text("A sheet takes at most 100 links. Select fewer.")


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_dialogs_have_no_serious_problems(
    api: APIClient, signed_in: Callable[..., Any], address: str, make_link: MakeLink, language: str
) -> None:
    link = make_link(DESTINATION)
    design = {"name": "Posters", "frameText": "Scan me", "widthMm": 300, "size": 2000, "isDefault": True}
    assert api.post("/api/qr-designs", design).status_code == 201
    problems = []
    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.evaluate("language => localStorage.setItem('dashboard.language', language)", language)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            open_link(visit, address, link)
            page.locator(".live .qr button").last.click()
            dialog = page.get_by_role("dialog")
            dialog.locator("[name=savedDesign]").select_option(index=1)
            dialog.locator(".saved-designs .actions button").first.click()
            expect(dialog.locator("[name=name]")).to_be_visible()
            problems += find_problems(page, "designer")
            page.goto(f"{address}/dashboard/")
            expect(rows(page)).to_have_count(1)
            rows(page).locator("input[type=checkbox]").check()
            page.locator(".selection button", has_text="QR").click()
            expect(page.locator("dialog [name=paper]")).to_be_visible()
            problems += find_problems(page, "sheet")
        assert visit.errors() == []
    assert problems == []


def find_problems(page: Page, name: str) -> list[str]:
    load_axe(page)
    wide = [f"{name}: too wide: {element}" for element in page.evaluate(WIDER)]
    return wide + [
        f"{name}, {scheme}: {problem}" for scheme in SCHEMES for problem in problems_of(page, scheme)
    ]
