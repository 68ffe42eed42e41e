"""The steps of the walk through the dashboard by keyboard alone."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD
from testing.analytics.clicks import drain
from testing.domains.dns_server import DnsServer
from testing.domains.domains import as_zone_file
from testing.pages.keyboard import Keyboard
from testing.pictures import read
from testing.sign_in.totp import code
from testing.threads import at_once
from tests.dashboard.report_page import total

DESTINATION = "https://example.com/first"
SHARED = "https://example.com/shared"
HOST = "go.brand.example"


def enter_credentials(page: Page, keyboard: Keyboard, person: NewAccount) -> None:
    keyboard.write(page.get_by_label("E-mail address"), person.user.email)
    keyboard.write(page.get_by_label("Password", exact=True), PASSWORD)
    page.keyboard.press("Enter")


def follow(page: Page, address: str, short_url: str) -> None:
    """A visitor follows the link, and the click is counted."""
    response = page.request.get(f"{address}/{short_url.rpartition('/')[2]}", max_redirects=0)
    assert (response.status, response.headers["location"]) == (302, DESTINATION)
    assert at_once([drain]) == [1]


def create_first_link(page: Page, keyboard: Keyboard, address: str) -> str:
    """Returns the short URL. Its QR code is decoded, and its first click shows up without a reload."""
    expect(page.get_by_role("heading", name="Make your first short link")).to_be_visible()
    keyboard.write(page.get_by_label("Destination URL"), DESTINATION)
    page.keyboard.press("Enter")
    short = page.locator(".steps a[target=_blank]").first
    expect(short).to_be_focused()
    short_url = short.inner_text()
    shown = page.get_by_role("img", name="QR code of the link").screenshot()
    assert read(shown, "png") == [f"{short_url}?qr=1"]
    with page.expect_download() as saved:
        keyboard.press(page.get_by_role("button", name="Download as PNG"))
    assert read(saved.value.path().read_bytes(), "png") == [f"{short_url}?qr=1"]
    # The link of this page survives a reload.
    page.reload()
    expect(short).to_have_text(short_url)
    expect(page.get_by_text("Open the short link, or scan its code.")).to_be_visible()
    follow(page, address, short_url)
    expect(page.get_by_text("It works: 1 click was counted.")).to_be_visible()
    keyboard.press(page.get_by_role("button", name="All links"))
    expect(page.locator("tr[data-link]")).to_contain_text(DESTINATION.removeprefix("https://"))
    page.go_back()
    keyboard.press(page.get_by_role("button", name="Edit the link"))
    return short_url


def see_click_in_report(page: Page, keyboard: Keyboard, address: str, short_url: str) -> None:
    keyboard.press(page.get_by_role("link", name="1 click"))
    expect(total(page, "clicks")).to_have_text("1")
    follow(page, address, short_url)
    # Nobody reloads the page.
    expect(total(page, "clicks")).to_have_text("2")
    keyboard.press(page.get_by_role("button", name="Edit link"))


def edit_with_rules(page: Page, keyboard: Keyboard) -> None:
    expect(page.locator("form.editor[data-link]")).to_be_visible()
    keyboard.write(page.get_by_label("Title"), "First title")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Link saved")).to_be_visible()
    keyboard.press(page.get_by_role("button", name="Dismiss"))
    expect(page.get_by_text("Link saved")).to_have_count(0)
    keyboard.write(page.get_by_label("Title"), "Second title")
    keyboard.press(page.locator("summary", has_text="Rules"))
    for position, country in enumerate(("DE", "FR")):
        keyboard.press(page.get_by_role("button", name="Add a rule"))
        keyboard.write(page.locator(f"[name='rules.{position}.url']"), f"https://example.com/{country}")
        keyboard.write(page.locator(f"[name='rules.{position}.conditions.0.values']"), country)
    rules = page.get_by_role("list", name="Rules")
    keyboard.press(rules.get_by_role("button", name="Move row 2", exact=True), "ArrowUp")
    expect(page.locator("[name='rules.0.url']")).to_have_value("https://example.com/FR")
    keyboard.press(page.get_by_role("button", name="Save", exact=True))
    expect(page.get_by_text("Link saved")).to_be_visible()


def add_domain(page: Page, keyboard: Keyboard, server: DnsServer) -> None:
    keyboard.press(page.get_by_role("link", name="Domains"))
    keyboard.write(page.get_by_label("Domain", exact=True), HOST)
    page.keyboard.press("Enter")
    card = page.locator("article.domain")
    expect(card.locator("summary")).to_be_focused()
    rows = card.locator(".records tbody tr")
    expect(rows).to_have_count(2)
    keyboard.press(card.get_by_role("button", name="Check the records now"))
    expect(card.locator(".records .error")).to_have_count(2)
    for row in rows.all():
        kind = row.locator("th").inner_text()
        name, value = row.locator("td > code").all_inner_texts()
        # Names are relative to the zone, as DNS panels ask for them.
        server.set(f"{name}.{HOST.partition('.')[2]}", kind, as_zone_file({"type": kind, "value": value}))
    keyboard.press(card.get_by_role("button", name="Check the records now"))
    expect(card).to_have_attribute("data-status", "active")


def import_file(page: Page, keyboard: Keyboard, file: Path) -> None:
    keyboard.press(page.get_by_role("link", name="Links", exact=True))
    keyboard.press(page.get_by_role("button", name="Import", exact=True))
    with page.expect_file_chooser() as chooser:
        keyboard.press(page.get_by_label("Drop a file here, or choose one"))
    chooser.value.set_files(file)
    keyboard.press(page.get_by_role("button", name="Import 1,000 links"))
    expect(page.get_by_text("1,000 links were imported, 0 rejected.")).to_be_visible()


def restore_title(page: Page, keyboard: Keyboard, link: str) -> None:
    keyboard.press(page.get_by_role("link", name="Links", exact=True))
    # The page loads its list after it has set up its keys.
    expect(page.locator("tr[data-link]")).to_have_count(50)
    page.keyboard.press("/")
    expect(page.get_by_label("Search")).to_be_focused()
    page.keyboard.type(link)
    expect(page.locator("tr[data-link]")).to_have_count(1)
    keyboard.press(page.get_by_role("link", name="Second title"))
    keyboard.press(page.get_by_role("link", name="History", exact=True))
    change = page.locator("[data-change]", has_text="First title")
    expect(change).to_have_count(2)
    keyboard.press(change.first.get_by_role("button", name="Restore"))
    expect(page.get_by_text("Former values restored")).to_be_visible()


def add_second_factor(page: Page, keyboard: Keyboard) -> str:
    """Returns the secret of the authenticator app."""
    keyboard.press(page.get_by_role("link", name="Settings", exact=True))
    expect(page.get_by_text("You are signed in as alice@example.com.")).to_be_visible()
    expect(page.get_by_role("link", name="Account", exact=True).first).to_have_attribute(
        "aria-current", "page"
    )
    expect(page).to_have_title("Account · URL shortener")
    expect(page.get_by_text("Only your password protects your account.")).to_be_visible()
    keyboard.press(page.get_by_role("link", name="Authenticator app and recovery codes"))
    keyboard.press(page.get_by_role("link", name="Activate"))
    keyboard.write(page.get_by_label("Password", exact=True), PASSWORD)
    page.keyboard.press("Enter")
    secret = page.get_by_label("Authenticator secret").input_value()
    keyboard.write(page.get_by_label("Authenticator code"), code(secret))
    page.keyboard.press("Enter")
    expect(page.get_by_label("Unused codes")).to_be_visible()
    keyboard.press(page.get_by_role("link", name="Account", exact=True))
    keyboard.press(page.get_by_role("link", name="Dashboard"))
    keyboard.press(page.get_by_role("link", name="Settings", exact=True))
    expect(page.get_by_text("A second factor protects your account.")).to_be_visible()
    return secret


def invite_to_workspace(page: Page, keyboard: Keyboard, email: str) -> str:
    """Returns the link of the invitation."""
    keyboard.press(page.get_by_role("link", name="Workspaces"))
    keyboard.write(page.get_by_role("textbox", name="Name", exact=True), "Marketing")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Marketing")).to_be_visible()
    expect(page.locator("[data-member]")).to_have_count(1)
    keyboard.write(page.get_by_label("E-mail address"), email)
    page.keyboard.press("Enter")
    expect(page.locator("[data-invitation]")).to_contain_text(email)
    return page.locator("output.secret").inner_text()


def accept_invitation(page: Page, keyboard: Keyboard, link: str, person: NewAccount) -> None:
    page.goto(link)
    keyboard.press(page.get_by_role("link", name="Sign in to accept"))
    enter_credentials(page, keyboard, person)
    keyboard.press(page.get_by_role("button", name="Accept"))
    chosen = page.get_by_role("combobox", name="Workspace", exact=True).locator("option:checked")
    expect(chosen).to_have_text("Marketing")


def create_in_workspace(page: Page, keyboard: Keyboard, address: str, workspace: str) -> None:
    page.goto(f"{address}/dashboard/new?workspace={workspace}")
    keyboard.write(page.get_by_label("Destination URL"), SHARED)
    page.keyboard.press("Enter")
    expect(page.locator("form.editor[data-link]")).to_be_visible()


def see_link_of_member(page: Page, keyboard: Keyboard) -> None:
    """The invitation is used. The link is in the workspace, which the keyboard chooses."""
    page.reload()
    expect(page.locator("[data-member]")).to_have_count(2)
    expect(page.get_by_text("There are no pending invitations.")).to_be_visible()
    with page.expect_event("load"):
        keyboard.press(page.get_by_role("combobox", name="Workspace", exact=True), "ArrowDown")
    expect(page.locator("tr[data-link]")).to_contain_text(SHARED.removeprefix("https://"))


def sign_out(page: Page, keyboard: Keyboard) -> None:
    keyboard.press(page.get_by_role("button", name="Account menu"))
    keyboard.press(page.get_by_role("button", name="Sign out"))


def sign_in_with_second_factor(page: Page, keyboard: Keyboard, alice: NewAccount, secret: str) -> None:
    sign_out(page, keyboard)
    keyboard.press(page.get_by_role("button", name="Sign in"))
    enter_credentials(page, keyboard, alice)
    # The first code was used.
    keyboard.write(page.get_by_label("Code", exact=True), code(secret, steps_later=1))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    keyboard.press(page.get_by_role("link", name="Links", exact=True))
    expect(page.locator("tr[data-link]")).to_have_count(50)


def see_no_link_of_team(page: Page, keyboard: Keyboard) -> None:
    """The personal list does not show the link of the workspace."""
    page.keyboard.press("/")
    keyboard.write(page.get_by_label("Search"), SHARED)
    expect(page.get_by_text("No link matches these filters.")).to_be_visible()
