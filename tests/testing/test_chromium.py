"""What a page leaves behind for the next page of the same process of Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from testing.pages.browser import another_site
from testing.pages.browser import browse as browse
from testing.pages.browser import chromium as chromium

LEAVE = """async () => {
    document.cookie = "own=1; max-age=3600";
    localStorage.setItem("own", "1");
    await new Promise((done, fail) => {
        const opening = indexedDB.open("own");
        Object.assign(opening, {onsuccess: done, onerror: fail});
    });
    await (await caches.open("own")).put("/own", new Response("1"));
}"""
FIND = """async () => ({
    cookies: document.cookie,
    items: localStorage.length,
    databases: (await indexedDB.databases()).map(database => database.name),
    caches: await caches.keys(),
    permission: (await navigator.permissions.query({name: "geolocation"})).state,
    viewport: [innerWidth, innerHeight],
    prints: matchMedia("print").matches,
    in2001: new Date().getFullYear() === 2001,
})"""
TITLE = "A site"
LEFT = {
    "cookies": "own=1",
    "items": 1,
    "databases": ["own"],
    "caches": ["own"],
    "permission": "granted",
    "viewport": [321, 123],
    "prints": True,
    "in2001": False,
}


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with another_site(TITLE) as url:
        yield url


def leave_everything(page: Any, site: str) -> None:
    page.goto(site)
    page.evaluate(LEAVE)
    page.context.add_cookies([{"name": "other", "value": "1", "url": "http://example.com", "httpOnly": True}])
    page.context.grant_permissions(["geolocation"])
    page.set_viewport_size({"width": 321, "height": 123})
    page.emulate_media(media="print")
    for routed in (page, page.context):
        routed.route(
            "**/*", lambda route: route.fulfill(body="<title>Routed</title>", content_type="text/html")
        )
    with page.expect_popup() as popup:
        page.evaluate("() => { open('/'); }")
    assert popup.value.title() == "Routed"


@pytest.mark.parametrize("has_clock", [False, True])
def test_a_page_finds_nothing_of_an_earlier_page(
    browse: Callable[..., Any], site: str, has_clock: bool
) -> None:
    with browse() as visit:
        initial = visit.page.context
        visit.page.goto(site)
        first = visit.page.evaluate(FIND)
    with browse() as visit:
        # The context is cleaned, not replaced.
        assert visit.page.context is initial
        leave_everything(visit.page, site)
        if has_clock:
            visit.page.clock.set_fixed_time(datetime(2001, 1, 1, 12, tzinfo=UTC))
        assert visit.page.evaluate(FIND) == LEFT | {"in2001": has_clock}
    with browse() as visit:
        assert visit.page.context.cookies() == []
        visit.page.goto(site)
        assert visit.page.title() == TITLE
        assert visit.page.evaluate(FIND) == first
        # The other page stays blank.
        assert sorted(page.url for page in visit.page.context.pages) == ["about:blank", f"{site}/"]
        assert (visit.page.context is initial) is not has_clock


def test_a_fresh_page_has_a_context_of_its_own(browse: Callable[..., Any], site: str) -> None:
    with browse() as visit:
        lasting = visit.page.context
    with browse(fresh=True) as visit:
        fresh = visit.page.context
        leave_everything(visit.page, site)
        assert fresh is not lasting
    with browse() as visit:
        assert visit.page.context is lasting
        assert lasting.browser is not None
        assert lasting.browser.contexts == [lasting]
