"""The import of links in Chromium."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from playwright.sync_api import Dialog, Locator, Page, expect
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link
from testing.browser import Visit
from testing.dashboard import session_cookie, sign_in
from testing.service.polling import DEADLINE
from testing.workspaces import team

pytestmark = pytest.mark.django_db(transaction=True)
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


def csv_of(rows: list[list[Any]], *names: str) -> str:
    file = StringIO(newline="")
    csv.writer(file).writerows([names, *rows])
    return file.getvalue()


def plain(count: int) -> str:
    """Rows without codes, so that a row that is imported twice makes a second link."""
    return csv_of([[f"https://example.com/{number}"] for number in range(count)], "originalUrl")


def open_import(visit: Visit, address: str, cookie: str) -> Page:
    sign_in(visit, address, cookie)
    visit.page.goto(f"{address}/dashboard/import")
    expect(visit.page.get_by_role("heading", name="Import links")).to_be_visible()
    return visit.page


def choose(page: Page, content: str | bytes, name: str = "links.csv") -> None:
    buffer = content.encode() if isinstance(content, str) else content
    page.locator("input[type=file]").set_input_files(
        [{"name": name, "mimeType": "text/csv", "buffer": buffer}]
    )


def status(page: Page) -> Locator:
    return page.locator(".import [role=status]")


def wait_for(page: Page, events: list[Any], count: int) -> None:
    """Playwright reports requests and dialogs only while it is called."""
    deadline = time.monotonic() + DEADLINE
    while len(events) < count:
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)


def total(page: Page, address: str, alice: NewAccount) -> int:
    """The number of Alice's links. The database is out of reach while the browser is open."""
    response = page.request.get(
        f"{address}/api/urls?limit=1", headers={"X-API-Key": alice.api_key, "Host": "localhost"}
    )
    return response.json()["data"]["pagination"]["total"]


def test_thousand_rows_are_checked_and_imported_with_progress(
    browse: Callable[[], Any], address: str, alice: NewAccount
) -> None:
    rows: list[list[Any]] = [
        [f"https://example.com/{number}", f"code-{number}", f'Title {number}, "so\ncalled"', number]
        for number in range(1000)
    ]
    rows[10][0] = "ftp://example.com/"
    rows[500][1] = "code-499"
    cookie = session_cookie(alice.user)
    held: list[Any] = []
    with browse() as visit:
        page = open_import(visit, address, cookie)
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
        wait_for(page, held, 3)
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


def test_lost_response_imports_no_row_twice(
    browse: Callable[[], Any], address: str, alice: NewAccount
) -> None:
    cookie = session_cookie(alice.user)
    calls: list[Any] = []

    def lose_second(route: Any) -> None:
        calls.append(route)
        if len(calls) == 2:
            route.fetch(timeout=1000 * DEADLINE)
            route.abort("connectionreset")
        else:
            route.continue_()

    with browse() as visit:
        page = open_import(visit, address, cookie)
        choose(page, plain(450))
        expect(status(page)).to_contain_text("450 can be imported")
        page.route(IMPORT, lose_second)
        # The banner stays until the test has seen it: the page asks again after a few seconds.
        page.route("**/api/auth/me", lambda route: route.abort("connectionrefused"))
        page.get_by_role("button", name="Import 450 links").click()
        expect(page.locator(".import")).to_have_attribute("data-phase", "paused")
        expect(status(page)).to_contain_text("200 of 450 links are imported")
        expect(page.locator("[data-state=away]")).to_be_visible()
        page.unroute("**/api/auth/me")
        page.get_by_role("button", name="Continue").click()
        expect(status(page)).to_have_text("450 links were imported, 0 rejected.")
    addresses = [link.original_url for link in Link.objects.all()]
    assert sorted(addresses) == sorted(f"https://example.com/{number}" for number in range(450))


def test_import_goes_on_after_the_session_has_ended(
    browse: Callable[[], Any], address: str, alice: NewAccount
) -> None:
    first, second = session_cookie(alice.user), session_cookie(alice.user)
    with browse() as visit:
        page = open_import(visit, address, first)
        choose(page, plain(3))
        expect(page.get_by_role("button", name="Import 3 links")).to_be_visible()
        # The page still has a token of the session that ends.
        assert page.request.post(f"{address}/dashboard/session/end", headers={"Origin": address}).ok
        page.get_by_role("button", name="Import 3 links").click()
        expect(page.locator("[data-state=signed-out]")).to_be_visible()
        expect(page.locator(".import")).to_have_attribute("data-phase", "paused")
        sign_in(visit, address, second)
        page.locator("[data-state=signed-out]").get_by_role("button", name="Continue").click()
        expect(page.locator("[data-state=signed-out]")).to_have_count(0)
        page.locator(".import").get_by_role("button", name="Continue").click()
        expect(status(page)).to_have_text("3 links were imported, 0 rejected.")
        assert visit.errors(401) == []
    assert Link.objects.count() == 3


def test_import_is_stopped_and_continued(browse: Callable[[], Any], address: str, alice: NewAccount) -> None:
    cookie = session_cookie(alice.user)
    team(alice)
    held: list[Any] = []
    questions: list[str] = []

    def stay(dialog: Dialog) -> None:
        questions.append(dialog.type)
        dialog.dismiss()

    with browse() as visit:
        page = open_import(visit, address, cookie)
        page.on("dialog", stay)
        choose(page, plain(300))
        expect(status(page)).to_contain_text("300 can be imported")
        page.route(IMPORT, lambda route: held.append(route), times=1)  # noqa: PLW0108 # Playwright reads its signature
        page.get_by_role("button", name="Import 300 links").click()
        page.get_by_role("button", name="Stop").click()
        expect(status(page)).to_contain_text("The import stops after the current batch.")
        wait_for(page, held, 1)
        held[0].continue_()
        expect(status(page)).to_contain_text("200 of 300 links are imported")
        # The browser asks before it leaves the page. A user who stays can choose the same workspace again.
        switch = page.get_by_role("combobox", name="Workspace", exact=True)
        for count in (1, 2):
            switch.select_option(label="Team")
            wait_for(page, questions, count)
            expect(switch.locator("option:checked")).to_have_text("Personal")
        assert questions == ["beforeunload"] * 2
        # Other pages of the dashboard do not end the import.
        page.get_by_role("link", name="Domains").click()
        expect(page.get_by_role("heading", name="Domains")).to_be_visible()
        page.get_by_role("link", name="Import").click()
        page.get_by_role("button", name="Continue").click()
        expect(status(page)).to_have_text("300 links were imported, 0 rejected.")
        assert visit.errors() == []
    assert Link.objects.count() == 300


def test_links_go_to_the_chosen_domain(
    browse: Callable[[], Any], address: str, alice: NewAccount, active_domain: dict[str, Any]
) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = open_import(visit, address, cookie)
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


def test_json_of_another_service_is_imported_as_a_whole(
    browse: Callable[[], Any], address: str, alice: NewAccount
) -> None:
    links = [
        {"long_url": f"https://example.com/{number}", "link": f"https://bit.ly/b{number}"}
        for number in range(3)
    ]
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = open_import(visit, address, cookie)
        choose(page, json.dumps({"links": links}), "bitly.json")
        expect(status(page)).to_contain_text("3 rows: 3 can be imported")
        page.get_by_role("button", name="Import 3 links").click()
        expect(status(page)).to_have_text("3 links were imported, 0 rejected.")
        assert visit.errors() == []
    assert {link.custom_code for link in Link.objects.all()} == {"b0", "b1", "b2"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("originalUrl\nhttps://example.com/ü".encode("latin-1"), "The file is not in UTF-8."),
        (b"", "The file contains no links."),
        (b"originalUrl\n", "The file contains no links."),
        (b"name,colour\na,b\n", "Unrecognised format"),
        (b'{"originalUrl": ', "This is not valid JSON"),
    ],
)
def test_unreadable_file_is_explained(
    browse: Callable[[], Any], address: str, alice: NewAccount, content: bytes, message: str
) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = open_import(visit, address, cookie)
        choose(page, content)
        expect(page.get_by_role("alert")).to_contain_text(message)
        # The next file can be chosen at once.
        choose(page, plain(1))
        expect(status(page)).to_have_text("1 row: 1 can be imported, 0 rejected. Nothing was changed yet.")
        expect(page.get_by_role("alert")).to_have_count(0)
        assert visit.errors(400) == []


def test_check_is_repeated_after_an_outage(
    browse: Callable[[], Any], address: str, alice: NewAccount
) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = open_import(visit, address, cookie)
        page.route(IMPORT, lambda route: route.abort("connectionrefused"), times=1)
        choose(page, plain(2))
        expect(status(page)).to_have_text("The file was not checked, and nothing was changed.")
        page.get_by_role("button", name="Check again").click()
        expect(status(page)).to_contain_text("2 rows: 2 can be imported")
    assert not Link.objects.exists()
