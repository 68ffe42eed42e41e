"""A process of Chromium that many tests use, one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from testing.polling import DEADLINE

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
        # Of one page after another, so that they load the files of the dashboard from its cache.
        self._lasting: BrowserContext | None = None

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
        """A page that shares nothing with earlier ones but the cache of files. All pages are closed at the end."""
        with self.in_use():
            # A crash fails one test, not all that follow.
            if not self._browser.is_connected():
                self._browser = self._launch()
                self._lasting = None
            if self._lasting is None:
                self._lasting = _new_context(self._browser, CHROME)
            try:
                yield self._lasting.new_page()
            finally:
                lasting, self._lasting = self._lasting, None
                for context in self._browser.contexts:
                    _close_pages(context)
                    if context is lasting and _clean(context):
                        self._lasting = lasting
                    else:
                        context.close()

    def disconnect(self) -> None:
        """Close all connections, and forget the cache of files."""
        with self.in_use():
            if self._lasting is not None:
                self._lasting.close()
                self._lasting = None

    def stop(self) -> None:
        with self.in_use():
            self._browser.close()
            self._playwright.stop()


def _close_pages(context: BrowserContext) -> None:
    # Handlers of requests that are still running would fail in the next test.
    for page in context.pages:
        page.unroute_all(behavior="ignoreErrors")
    context.unroute_all(behavior="ignoreErrors")
    for page in context.pages:
        page.close()


def _clean(context: BrowserContext) -> bool:
    """Forget everything but the cache of files. False: the context is unfit for more pages."""
    with context.new_page() as page:
        # Playwright installs its clock in all later pages, too.
        if page.evaluate("'__pwClock' in window"):
            return False
        devtools = context.new_cdp_session(page)
        devtools.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    context.clear_cookies()
    context.clear_permissions()
    return True


# Messages of the dashboard disappear after eight seconds, which a busy machine may need to look at them.
_KEEP_MESSAGES = """(() => {
    const set = window.setTimeout;
    window.setTimeout = (run, delay, ...rest) => set(run, delay === 8000 ? 60000 : delay, ...rest);
})()"""


def _new_context(browser: Browser, user_agent: str) -> BrowserContext:
    context = browser.new_context(user_agent=user_agent)
    context.set_default_timeout(1000 * DEADLINE)
    context.add_init_script(_KEEP_MESSAGES)
    return context


def new_page(browser: Browser, user_agent: str = CHROME) -> Page:
    """A page that shares no cookies with others. It and its popups wait as long as tests may."""
    return _new_context(browser, user_agent).new_page()
