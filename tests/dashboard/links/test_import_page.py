"""The import of links in Chromium: what is imported, and from which files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link
from testing.pages.waiting import wait_until
from tests.dashboard.links.import_page import choose, csv_of, open_import, plain, status

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
IMPORT = "**/api/urls/import"
# Drops a file on an element, as a browser does when somebody drags it there.
DROP = """(content) => {
    const files = new DataTransfer();
    files.items.add(new File([content], "links.csv", { type: "text/csv" }));
    return files;
}"""


@pytest.fixture
def active_domain(api: APIClient) -> dict[str, Any]:
    domain = api.post("/api/domains", {"domain": "go.brand.example"}).json()["data"]["domain"]
    Domain.objects.update(status="active")
    return domain


def total(page: Page, address: str, alice: NewAccount) -> int:
    """The number of Alice's links. The database is out of reach while the browser is open."""
    response = page.request.get(
        f"{address}/api/urls?limit=1", headers={"X-API-Key": alice.api_key, "Host": "localhost"}
    )
    return response.json()["data"]["pagination"]["total"]


def test_thousand_rows_are_checked_and_imported_with_progress(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    rows: list[list[Any]] = [
        [f"https://example.com/{number}", f"code-{number}", f'Title {number}, "so\ncalled"', number]
        for number in range(1000)
    ]
    rows[10][0] = "ftp://example.com/"
    rows[500][1] = "code-499"
    held: list[Any] = []
    with signed_in() as visit:
        page = open_import(visit, address)
        file = page.evaluate_handle(DROP, csv_of(rows, "originalUrl", "customCode", "title", "clickCount"))
        page.locator(".drop").dispatch_event("drop", {"dataTransfer": file})
        expect(status(page)).to_have_text(
            "1,000 rows: 998 can be imported, 2 rejected. Nothing was changed yet."
        )
        expect(page.locator("tr[data-row]")).to_have_count(100)
        expect(page.locator("tr[data-row='1']")).to_contain_text("sho.rt/code-0")
        page.get_by_role("checkbox", name="Only rejected rows").check()
        expect(page.locator("tr[data-row]")).to_have_count(2)
        expect(page.locator("tr[data-row='11']")).to_contain_text("originalUrl:")
        # The page shows the row as it is in the file.
        expect(page.locator("tr[data-row='11']")).to_contain_text("ftp://example.com/")
        expect(page.locator("tr[data-row='501']")).to_contain_text("code")
        assert total(page, address, alice) == 0

        # The third part waits until the test has seen the progress of the first two.
        def hold_third(route: Any) -> None:
            held.append(route)
            if len(held) != 3:
                route.continue_()

        page.route(IMPORT, hold_third)
        page.get_by_role("button", name="Import 998 links").click()
        expect(status(page)).to_have_text("400 of 998 links imported …")
        progress = page.get_by_role("progressbar", name="Progress of the import")
        expect(progress).to_have_attribute("value", "400")
        expect(progress).to_have_attribute("max", "998")
        assert total(page, address, alice) == 400
        wait_until(page, lambda: len(held) >= 3)
        held[2].continue_()
        expect(status(page)).to_have_text("998 links were imported, 2 rejected.")
        expect(page.locator("tr[data-row]")).to_have_count(2)
        page.get_by_role("checkbox", name="Only rejected rows").uncheck()
        expect(page.locator("tr[data-row='1'][data-state=imported]")).to_be_visible()
        page.get_by_role("button", name="Show the links").click()
        expect(page.get_by_text("998 links", exact=True)).to_be_visible()
        assert visit.errors() == []
    stored = {link.custom_code: (link.original_url, link.title) for link in Link.objects.all()}
    assert stored == {code: (url, title) for url, code, title, _ in (*rows[:10], *rows[11:500], *rows[501:])}
    assert Link.objects.get(custom_code="code-999").owner_id == alice.user.pk


def test_links_go_to_the_chosen_domain(
    signed_in: Callable[..., Any], address: str, active_domain: dict[str, Any]
) -> None:
    with signed_in() as visit:
        page = open_import(visit, address)
        choose(page, plain(2))
        page.get_by_label("Domain of the links").select_option("go.brand.example")
        with page.expect_request(IMPORT) as applied:
            page.get_by_role("button", name="Import 2 links").click()
        assert applied.value.post_data_json["domainId"] == active_domain["_id"]
        expect(status(page)).to_have_text("2 links were imported, 0 rejected.")
        assert visit.errors() == []
    assert {str(link.domain.public_id) for link in Link.objects.select_related("domain")} == {
        active_domain["_id"]
    }


def test_json_of_another_service_is_imported_as_a_whole(signed_in: Callable[..., Any], address: str) -> None:
    links = [
        {"long_url": f"https://example.com/{number}", "link": f"https://bit.ly/b{number}"}
        for number in range(3)
    ]
    with signed_in() as visit:
        page = open_import(visit, address)
        choose(page, json.dumps({"links": links}), "bitly.json")
        expect(status(page)).to_contain_text("3 rows: 3 can be imported")
        page.get_by_role("button", name="Import 3 links").click()
        expect(status(page)).to_have_text("3 links were imported, 0 rejected.")
        assert visit.errors() == []
    assert {link.custom_code for link in Link.objects.all()} == {"b0", "b1", "b2"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The file contains no links."),
        (b"originalUrl\n", "The file contains no links."),
        (b'{"originalUrl": ', "This is not valid JSON"),
    ],
)
def test_unreadable_file_is_explained(
    signed_in: Callable[..., Any], address: str, content: bytes, message: str
) -> None:
    with signed_in() as visit:
        page = open_import(visit, address)
        choose(page, content)
        expect(page.get_by_role("alert")).to_contain_text(message)
        # The next file can be chosen at once.
        choose(page, plain(1))
        expect(status(page)).to_have_text("1 row: 1 can be imported, 0 rejected. Nothing was changed yet.")
        expect(page.get_by_role("alert")).to_have_count(0)
        assert visit.errors(400) == []


def test_the_columns_of_any_file_can_be_chosen(signed_in: Callable[..., Any], address: str) -> None:
    file = "Kürzel;Wohin;Thema\nfrueh;https://example.com/ü;Frühling\n".encode("cp1252")
    with signed_in() as visit:
        page = open_import(visit, address)
        choose(page, file)
        expect(page.get_by_text("The file was read as windows-1252.")).to_be_visible()
        expect(page.get_by_role("combobox", name="Code", exact=True)).to_have_value("0")
        page.get_by_role("combobox", name="Destination URL").select_option(
            label="Wohin (https://example.com/ü)"
        )
        page.get_by_role("combobox", name="Title", exact=True).select_option(label="Thema (Frühling)")
        page.get_by_role("button", name="Check the rows").click()
        page.get_by_role("button", name="Import 1 link").click()
        expect(status(page)).to_have_text("1 link was imported, 0 rejected.")
        assert visit.errors(400) == []
    link = Link.objects.get()
    assert (link.original_url, link.custom_code, link.title) == (
        "https://example.com/ü",
        "frueh",
        "Frühling",
    )


def test_what_a_link_loses_is_said_and_rejected_rows_come_back(
    signed_in: Callable[..., Any], address: str
) -> None:
    file = (
        "Short link,Destination URL,Rewrite\n"
        "https://dub.sh/one,https://example.com/1,true\n"
        'https://dub.sh/two,"ftp://example.com/a,b",false\n'
    )
    with signed_in() as visit:
        page = open_import(visit, address)
        choose(page, file, "dub.csv")
        losses = page.locator("[data-part=losses]")
        expect(losses).to_contain_text("1 link moves from \u2068dub.sh\u2069 to \u2068sho.rt\u2069.")
        expect(losses).to_contain_text("Rewrite (1 row): Links are not cloaked")
        expect(page.locator("tr[data-row='2'] td:nth-child(4)")).to_have_text("ftp://example.com/a,b")
        with page.expect_download() as downloaded:
            page.get_by_role("button", name="Download the rejected rows").click()
        assert downloaded.value.suggested_filename == "dub-rejected.csv"
        head, row = Path(downloaded.value.path()).read_text("utf-8-sig").splitlines()
        assert head == "importError,Short link,Destination URL,Rewrite"
        assert row.endswith(',https://dub.sh/two,"ftp://example.com/a,b",false')
        # The corrected file is accepted; the reason in it is ignored.
        choose(page, f"{head}\n{row.replace('ftp:', 'https:')}\n")
        expect(status(page)).to_have_text("1 row: 1 can be imported, 0 rejected. Nothing was changed yet.")
        expect(losses).not_to_contain_text("importError")
        assert visit.errors() == []
