"""The browser extension in Chromium and Firefox, with a running service."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from testing.clients import firefox
from testing.clients.extension import installed, with_access
from testing.pages.browser import another_site
from testing.polling import DEADLINE, eventually
from testing.service.running import Service
from tests.clients.conftest import Account

pytestmark = pytest.mark.slow


def test_chromium_shortens_copies_and_draws_the_tab_at_hand(
    clients: Path, service: Service, account: Account, tmp_path: Path
) -> None:
    expect.set_options(timeout=1000 * DEADLINE)
    folder = with_access(clients, tmp_path / "extension", ["localhost", "127.0.0.1"])
    with another_site("Spring sale") as site, installed(folder, tmp_path / "profile") as extension:
        options, popup, tab = (extension.context.new_page() for _ in range(3))
        options.goto(extension.address("options.html"))
        options.get_by_label("Address of the service").fill(f"http://localhost:{service.port}/")
        options.get_by_label("API key").fill("sl_live_wrong")
        options.get_by_role("button", name="Save").click()
        expect(options.get_by_role("alert")).to_have_text("The API key is not valid.")
        options.get_by_label("API key").fill(account.api_key)
        options.get_by_role("button", name="Save").click()
        expect(options.get_by_role("status")).to_have_text("Saved. The key works.")

        # The popup asks for the tab in front.
        tab.goto(site)
        tab.bring_to_front()
        popup.goto(extension.address("popup.html"))
        popup.get_by_label("Custom code").fill("Tab26")
        popup.get_by_role("button", name="Create").click()
        expect(popup.get_by_role("link")).to_have_text(f"http://localhost:{service.port}/Tab26")
        popup.bring_to_front()
        popup.get_by_role("button", name="Copy").click()
        expect(popup.get_by_role("status")).to_have_text("Copied.")
        popup.get_by_role("button", name="QR code").click()
        expect(popup.get_by_role("img")).to_be_visible()
        popup.wait_for_function("document.querySelector('img').naturalWidth > 0")

        tab.bring_to_front()
        popup.reload()
        popup.get_by_label("Custom code").fill("Tab26")
        popup.get_by_role("button", name="Create").click()
        expect(popup.get_by_role("link")).to_have_text(f"http://localhost:{service.port}/Tab26")

    found = service.call("GET", "/api/urls", X_API_Key=account.api_key).json()["data"]["urls"]
    assert [(link["originalUrl"], link["title"], link["customCode"]) for link in found] == [
        (f"{site}/", "Spring sale", "Tab26")
    ]


def test_firefox_does_the_same(clients: Path, service: Service, account: Account, tmp_path: Path) -> None:
    folder = with_access(clients, tmp_path / "extension", ["localhost", "127.0.0.1"])
    with another_site("Spring sale") as site, firefox.running(folder, tmp_path / "profile") as browser:
        options, popup, tab = (browser.new_tab() for _ in range(3))
        browser.choose(options)
        browser.go(browser.address("options.html"))
        browser.fill("#url", f"http://localhost:{service.port}/")
        browser.fill("#key", "sl_live_wrong")
        browser.click("form button")
        eventually(lambda: browser.text("[role=alert]") == "The API key is not valid.")
        browser.fill("#key", account.api_key)
        browser.click("form button")
        eventually(lambda: browser.text("[role=status]") == "Saved. The key works.")

        browser.choose(tab, front=True)
        browser.go(site)
        browser.choose(popup)
        browser.go(browser.address("popup.html"))
        browser.fill("#code", "Fox26")
        browser.click("#create")
        eventually(lambda: browser.text("#link") == f"http://localhost:{service.port}/Fox26")
        browser.choose(popup, front=True)
        browser.click("#copy")
        eventually(lambda: browser.text("[role=status]") == "Copied.")
        browser.click("#qr")
        eventually(lambda: browser.value_of("document.querySelector('img').naturalWidth > 0"))

    found = service.call("GET", "/api/urls", X_API_Key=account.api_key).json()["data"]["urls"]
    assert [(link["originalUrl"], link["title"], link["customCode"]) for link in found] == [
        (f"{site}/", "Spring sale", "Fox26")
    ]
