"""Chromium for tests: what a policy forbids, and what one origin may read of another, only a browser decides."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from tests.programs import program

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]

# Chromium without a window says so in its agent, and would be taken for a machine.
CHROME = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36"
)


@pytest.fixture(scope="module")
def chromium() -> str:
    return program("chromium")


@pytest.fixture
def address(live_server: LiveServer, settings: Settings) -> str:
    """Ours, where Chromium finds it; the API stays where the tests call it."""
    settings.BASE_HOSTS = frozenset({"sho.rt", "localhost"})
    return live_server.url


@contextmanager
def another_site(title: str) -> Iterator[str]:
    """A page of another origin; gives where it is."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f"<!doctype html><title>{title}</title><link rel=icon href=data:,>".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class Visit:
    """A page and everything in it that a person with open developer tools would see complaints about."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def errors(self, *expected_statuses: int) -> list[str]:
        """All but the note that Chromium makes of every status from 400 on."""
        noted = [f"the server responded with a status of {status}" for status in expected_statuses]
        return [text for text in self.complaints if not any(note in text for note in noted)]

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


@pytest.fixture
def browse(chromium: str) -> Callable[[], Any]:
    """A browser for as long as the block lasts: outside it the test may use the database."""

    @contextmanager
    def visit() -> Iterator[Visit]:
        with sync_playwright() as playwright:
            browser: Browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
            try:
                page = browser.new_page(user_agent=CHROME)
                page.set_default_timeout(60_000)
                yield Visit(page)
            finally:
                browser.close()

    return visit
