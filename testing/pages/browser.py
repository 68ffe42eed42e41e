"""Chromium for tests. Only a browser enforces content security policies and the same-origin policy."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import ConsoleMessage, Page
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from testing.pages.chromium import Chromium
from testing.pages.waiting import wait_until
from testing.programs import program

_STARTED = pytest.StashKey[Chromium]()


@pytest.fixture(scope="module")
def chromium(pytestconfig: pytest.Config) -> Iterator[Chromium]:
    """One process for all tests: starting one takes longer than most of them. The tests of a module share its cache.

    The shell without windows opens a page in a quarter of the time.
    """
    if _STARTED not in pytestconfig.stash:
        started = Chromium(shutil.which("chromium-headless-shell") or program("chromium"))
        pytestconfig.stash[_STARTED] = started
        pytestconfig.add_cleanup(started.stop)
    chromium = pytestconfig.stash[_STARTED]
    yield chromium
    # Its open connections would keep sessions of the database open, which is deleted after the last module.
    chromium.disconnect()


@pytest.fixture
def address(live_server: LiveServer, settings: Settings) -> str:
    """The URL of the service for Chromium. The API client of the tests keeps using its own host."""
    settings.BASE_HOSTS = frozenset({"sho.rt", "localhost"})
    return live_server.url


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
def browse(chromium: Chromium) -> Callable[..., Any]:
    """Returns a context manager with a page. Outside its block, the test can use the database.

    With `fresh=True`, the page shares no caches and connections with earlier ones.
    """

    @contextmanager
    def visit(*, fresh: bool = False) -> Iterator[Visit]:
        with chromium.page(fresh=fresh) as page:
            yield Visit(page)

    return visit
