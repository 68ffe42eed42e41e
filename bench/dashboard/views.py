"""What a browser sends and receives for each view of the dashboard."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from playwright.sync_api import BrowserContext, Page, Request, expect

# Below /dashboard/. The lists are those of an owner of a million links, the report that of a link with many clicks.
LISTS = (
    "",
    "?page=100",
    "?search=quokka",
    "?search=spring",
    "?search=xylophone",
    "?tags=Marketing",
    "?status=disabled",
    "?expires=7",
    "?search=spring&tags=Marketing&status=active",
    *(
        f"?sortBy={name}&sortOrder={order}"
        for name in ("createdAt", "clickCount", "title")
        for order in ("asc", "desc")
    ),
    "overview",
    "deleted",
)
REPORTS = (
    "links/{link}/report",
    *(f"links/{{link}}/report?range={name}&compare=1" for name in ("today", "7d", "30d", "90d", "12m")),
    "links/{link}/report?range=all",
    "links/{link}/report?range=12m&interval=day&zone=Asia/Kathmandu",
    "links/{link}/report?range=30d&interval=hour&zone=Asia/Tokyo",
)
# Requests for figures that change with the time of the request.
_API = re.compile(r"/api/")


# A busy machine may take long to draw a page.
expect.set_options(timeout=60_000)


class Transfer(NamedTuple):
    """Bytes over the wire, with the headers of the responses: of code and style, and of everything."""

    code: int
    total: int


def sign_in(context: BrowserContext, address: str, email: str, password: str) -> None:
    page = context.new_page()
    page.goto(f"{address}/accounts/login/?next=/dashboard/")
    page.locator("[name=login]").fill(email)
    page.locator("[name=password]").fill(password)
    page.locator("[name=password]").press("Enter")
    expect(page.locator("tr[data-link]").first).to_be_visible()
    page.close()


def first_view(context: BrowserContext, address: str) -> Transfer:
    """Load the list with an empty cache. The first view includes its data."""
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    kinds: dict[str, str] = {}
    sizes: dict[str, int] = {}
    session.on("Network.responseReceived", lambda event: kinds.update({event["requestId"]: event["type"]}))
    session.on(
        "Network.loadingFinished",
        lambda event: sizes.update({event["requestId"]: int(event["encodedDataLength"])}),
    )
    _open(page, f"{address}/dashboard/")
    page.wait_for_load_state("networkidle")
    page.close()
    code = sum(
        size for identifier, size in sizes.items() if kinds.get(identifier) in ("Script", "Stylesheet")
    )
    return Transfer(code, sum(sizes.values()))


def requests_of(context: BrowserContext, address: str, paths: tuple[str, ...], **ids: str) -> dict[str, str]:
    """The GET requests to the API of these views: the path and query of each, and the view that sent it."""
    sent: dict[str, str] = {}
    page = context.new_page()
    for path in (path.format(**ids) for path in paths):

        def note(request: Request, view: str = path) -> None:
            if request.method == "GET" and _API.search(request.url):
                sent.setdefault(request.url.removeprefix(address), view)

        page.on("request", note)
        _open(page, f"{address}/dashboard/{path}")
        page.remove_listener("request", note)
    page.close()
    return sent


def cookies(context: BrowserContext, address: str) -> str:
    """The Cookie header of a request for the dashboard."""
    stored: list[Any] = context.cookies(f"{address}/dashboard/session/token")
    return "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in stored)


def _open(page: Page, url: str) -> None:
    """Wait until the view has its data."""
    response = page.goto(url)
    if response is None or response.status != 200:
        raise SystemExit(f"{url} is not a page of the dashboard.")
    expect(page.locator("main h1").first).to_be_visible()
    expect(page.locator("main :not(progress)[aria-busy=true]")).to_have_count(0)
    page.wait_for_load_state("networkidle")
