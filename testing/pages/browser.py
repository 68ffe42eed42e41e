"""Chromium for tests. Only a browser enforces content security policies and the same-origin policy."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from testing.pages.waiting import wait_until
from testing.polling import DEADLINE
from testing.programs import program

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]

# Headless Chromium identifies itself in its user agent, and the service would count it as a crawler.
CHROME = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36"
)


class Chromium:
    """A process of Chromium. Playwright's event loop counts as running in this thread only inside ``in_use()``.

    Otherwise it would until the process ends, and Django and asyncio refuse to work beside a running loop.
    """

    def __init__(self, executable: str) -> None:
        self._executable = executable
        self._playwright = sync_playwright().start()
        self._loop = asyncio.get_running_loop()
        with self.in_use():
            self._browser = self._launch()

    def _launch(self) -> Browser:
        return self._playwright.chromium.launch(
            executable_path=self._executable, args=ARGUMENTS, timeout=1000 * DEADLINE
        )

    @contextmanager
    def in_use(self) -> Iterator[None]:
        asyncio._set_running_loop(self._loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)

    @contextmanager
    def page(self) -> Iterator[Page]:
        """A page that shares nothing with earlier ones. All pages are closed at the end."""
        with self.in_use():
            # A crash fails one test, not all that follow.
            if not self._browser.is_connected():
                self._browser = self._launch()
            try:
                yield new_page(self._browser)
            finally:
                for context in self._browser.contexts:
                    # Handlers of requests that are still running would fail in the next test.
                    for page in context.pages:
                        page.unroute_all(behavior="ignoreErrors")
                    context.unroute_all(behavior="ignoreErrors")
                    context.close()

    def stop(self) -> None:
        with self.in_use():
            self._browser.close()
            self._playwright.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    """One process for the tests of a module: starting one takes longer than most of them.

    The shell without windows opens a page in a quarter of the time.
    """
    chromium = Chromium(shutil.which("chromium-headless-shell") or program("chromium"))
    yield chromium
    chromium.stop()


@pytest.fixture
def address(live_server: LiveServer, settings: Settings) -> str:
    """The URL of the service for Chromium. The API client of the tests keeps using its own host."""
    settings.BASE_HOSTS = frozenset({"sho.rt", "localhost"})
    return live_server.url


# Messages of the dashboard disappear after eight seconds, which a busy machine may need to look at them.
_KEEP_MESSAGES = """(() => {
    const set = window.setTimeout;
    window.setTimeout = (run, delay, ...rest) => set(run, delay === 8000 ? 60000 : delay, ...rest);
})()"""


def new_page(browser: Browser, user_agent: str = CHROME) -> Page:
    """A page that shares no cookies with others. It and its popups wait as long as tests may."""
    page = browser.new_page(user_agent=user_agent)
    page.context.set_default_timeout(1000 * DEADLINE)
    page.context.add_init_script(_KEEP_MESSAGES)
    return page


@contextmanager
def another_site(title: str) -> Iterator[str]:
    """Serve a page of another origin. Yield its URL."""

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
    """A page, with the errors and warnings of its console."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def errors(self, *expected_statuses: int) -> list[str]:
        """All complaints, without Chromium's messages about responses with these statuses."""
        expected = [f"the server responded with a status of {status}" for status in expected_statuses]
        return [text for text in self.complaints if not any(message in text for message in expected)]

    def wait_for_complaint(self, *texts: str) -> None:
        """Wait until a complaint contains one of these texts. Chromium may report it after the page has loaded."""
        wait_until(
            self.page,
            lambda: any(text in complaint for complaint in self.complaints for text in texts),
            lambda: self.complaints,
        )

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


@pytest.fixture
def browse(chromium: Chromium) -> Callable[[], Any]:
    """Returns a context manager with a page. Outside its block, the test can use the database."""

    @contextmanager
    def visit() -> Iterator[Visit]:
        with chromium.page() as page:
            yield Visit(page)

    return visit
