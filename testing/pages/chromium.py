"""A process of Chromium that many tests use, one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from testing.polling import DEADLINE

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",
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
        self._lasting: _LastingContext | None = None

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
    def page(self, *, fresh: bool = False, **options: Any) -> Iterator[Page]:
        """A page without the cookies, storage, permissions and routes of earlier pages. All pages close at the end.

        The pages of a module share the HTTP cache (with permanent redirects), the cache of CORS preflights and
        keep-alive connections. A `fresh` page shares none of them. All pages of the process share the clipboard.
        Only fresh pages have ``options``, see `new_page`.
        """
        with self.in_use():
            # A crash fails one test, not all that follow.
            if not self._browser.is_connected():
                self._browser = self._launch()
                self._lasting = None
            if self._lasting is None:
                self._lasting = _LastingContext(self._browser)
            try:
                yield new_page(self._browser, **options) if fresh else self._lasting.context.new_page()
            finally:
                lasting, self._lasting = self._lasting, None
                for context in self._browser.contexts:
                    _end_routes(context)
                    if context is lasting.context and lasting.clean():
                        self._lasting = lasting
                    else:
                        context.close()

    def disconnect(self) -> None:
        """Close all connections, and forget the cache of files."""
        with self.in_use():
            if self._lasting is not None:
                self._lasting.context.close()
                self._lasting = None

    def stop(self) -> None:
        with self.in_use():
            self._browser.close()
            self._playwright.stop()


class _LastingContext:
    """The context of one page after another. They load the files of the dashboard from its cache.

    A page of its own stays blank. Opening one after each test would take longer than cleaning.
    """

    def __init__(self, browser: Browser) -> None:
        self.context = _new_context(browser, CHROME)
        self._blank = self.context.new_page()
        self._devtools = self.context.new_cdp_session(self._blank)

    def clean(self) -> bool:
        """Close the other pages, and forget their state. False: the context is unfit for more pages."""
        for page in self.context.pages:
            if page is not self._blank:
                page.close()
        # Playwright installs its clock in all pages of the context, and in later ones.
        if self._blank.evaluate("'__pwClock' in window"):
            return False
        self._devtools.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
        self.context.clear_permissions()
        return True


def _end_routes(context: BrowserContext) -> None:
    """End handlers of requests that are still running. They would fail in the next test."""
    for page in context.pages:
        page.unroute_all(behavior="ignoreErrors")
    context.unroute_all(behavior="ignoreErrors")


# Messages of the dashboard disappear after eight seconds, which a busy machine may need to look at them.
_KEEP_MESSAGES = """(() => {
    const set = window.setTimeout;
    window.setTimeout = (run, delay, ...rest) => set(run, delay === 8000 ? 60000 : delay, ...rest);
})()"""


def _new_context(browser: Browser, user_agent: str, **options: Any) -> BrowserContext:
    context = browser.new_context(user_agent=user_agent, **options)
    context.set_default_timeout(1000 * DEADLINE)
    context.add_init_script(_KEEP_MESSAGES)
    return context


def new_page(browser: Browser, user_agent: str = CHROME, **options: Any) -> Page:
    """A page that shares no cookies with others. It and its popups wait as long as tests may.

    ``options`` are those of Playwright's contexts, such as ``locale`` and ``viewport``.
    """
    return _new_context(browser, user_agent, **options).new_page()
