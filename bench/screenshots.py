"""python -m bench.screenshots [NAME ...]: screenshots of the dashboard for docs/screenshots, with invented data."""

from __future__ import annotations

import argparse
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from playwright.sync_api import Page, expect, sync_playwright

from bench.dashboard.views import sign_in
from bench.harness.results import PROJECT_DIR
from bench.harness.running import installation
from bench.harness.stack import service_folder
from testing.pages.chromium import ARGUMENTS, CHROME
from testing.programs import program
from testing.service.running import Service

if TYPE_CHECKING:
    from testing.analytics.facts import Fact

FOLDER = PROJECT_DIR / "docs/screenshots"
SIZE = {"width": 1280, "height": 800}
DAYS = 30
# The same pictures for the same dashboard.
_RANDOM = random.Random(1)
_LINKS = (
    (
        "SpringSale",
        "https://shop.example.com/collections/spring?sort=new",
        "Spring sale",
        ["campaign", "shop"],
    ),
    ("Menu", "https://cafe.example.org/menu/summer.pdf", "Summer menu (QR code on the tables)", ["print"]),
    ("OpenJobs", "https://careers.example.com/openings", "Open positions", ["careers"]),
    (
        "Webinar",
        "https://events.example.com/2026/postgres-at-scale",
        "Webinar: PostgreSQL at scale",
        ["events"],
    ),
    ("OurApp", "https://apps.example.com/download", "Get the app", ["campaign", "mobile"]),
    ("Press2026", "https://example.com/press/2026", "Press kit", ["press"]),
    ("Survey", "https://forms.example.net/customer-survey", "Customer survey", ["research"]),
    ("Handbook", "https://docs.example.com/getting-started", "Getting started", ["docs"]),
)
_CITIES = (("DE", "Berlin", 9), ("DE", "Hamburg", 4), ("US", "New York", 8), ("GB", "London", 6), ("FR", "Paris", 4),
           ("NL", "Amsterdam", 3), ("JP", "Tokyo", 3), ("BR", "São Paulo", 2), ("IN", "Mumbai", 2))  # fmt: skip
_AGENTS = (
    ("mobile", "Chrome", "Android", 8), ("mobile", "Safari", "iOS", 7), ("desktop", "Chrome", "Windows", 5),
    ("desktop", "Firefox", "Linux", 2), ("desktop", "Safari", "macOS", 3), ("tablet", "Safari", "iOS", 1),
)  # fmt: skip
_REFERRERS = (("", 9), ("https://www.instagram.com/", 5), ("https://news.example.net/weekly", 3))


class Screenshot(NamedTuple):
    """``path`` may contain ``{link}``. ``ready`` matches once the page is complete."""

    name: str
    path: str
    ready: str


SCREENSHOTS = (
    Screenshot("list", "/dashboard/", "tr[data-link]"),
    Screenshot("report", "/dashboard/links/{link}/report", ".report canvas"),
    Screenshot("editor", "/dashboard/links/{link}", ".route output"),
)


def main() -> None:
    names = [screenshot.name for screenshot in SCREENSHOTS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*names, []], metavar="NAME", help=", ".join(names))
    chosen = parser.parse_args().names or names
    with service_folder() as folder, installation(folder, BASE_URL="http://go.example.com") as service:
        link = fill(service)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program("chromium"), args=ARGUMENTS)
            context = browser.new_context(
                viewport=SIZE,
                user_agent=CHROME,
                color_scheme="light",
                reduced_motion="reduce",
                timezone_id="UTC",
            )
            sign_in(context, service.url, service.owner.email, service.owner.password)
            page = context.new_page()
            FOLDER.mkdir(exist_ok=True)
            for screenshot in SCREENSHOTS:
                if screenshot.name in chosen:
                    take(page, service.url, screenshot, link)
            browser.close()


def take(page: Page, address: str, screenshot: Screenshot, link: str) -> None:
    page.goto(address + screenshot.path.format(link=link))
    expect(page.locator("main h1").first).to_be_visible()
    expect(page.locator(screenshot.ready).first).to_be_visible()
    expect(page.locator("main :not(progress)[aria-busy=true]")).to_have_count(0)
    page.wait_for_load_state("networkidle")
    path = FOLDER / f"{screenshot.name}.png"
    page.screenshot(path=path)
    print(f"{path.relative_to(PROJECT_DIR)}: {path.stat().st_size:,} bytes")


def fill(service: Service) -> str:
    """Create the links and their clicks. Returns the id of the first link."""
    from links.models import ClickCounter
    from testing.analytics.facts import record

    ids = []
    # The list shows the newest link first.
    for code, url, title, tags in reversed(_LINKS):
        link = service.create_link(
            service.owner.api_key, originalUrl=url, customCode=code, title=title, tags=tags
        )
        ids.append(link["_id"])
        facts = _facts(share=len(ids))
        record(link["_id"], facts, closed="1970-01-01")
        ClickCounter.objects.filter(link__public_id=link["_id"]).update(
            clicks=sum(fact.count for fact in facts)
        )
    return str(ids[-1])


def _facts(share: int) -> list[Fact]:
    from testing.analytics.facts import Fact

    now = datetime.now(UTC)
    facts = []
    for day in range(DAYS):
        for visit in range(share * _RANDOM.randrange(2, 6) + day // 4):
            country, city, _ = _RANDOM.choices(_CITIES, [weight for *_, weight in _CITIES])[0]
            device, browser, system, _ = _RANDOM.choices(_AGENTS, [weight for *_, weight in _AGENTS])[0]
            referrer, _ = _RANDOM.choices(_REFERRERS, [weight for *_, weight in _REFERRERS])[0]
            time = now - timedelta(days=DAYS - 1 - day, minutes=_RANDOM.randrange(600))
            facts.append(Fact(
                f"{time:%Y-%m-%dT%H:%M:%SZ}", country=country, city=city, device=device, browser=browser,
                operating_system=system, referrer=referrer, visitor=str(visit // 2),
            ))  # fmt: skip
    return facts


if __name__ == "__main__":
    main()
