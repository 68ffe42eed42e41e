"""A person who walks through the dashboard: with a screen, a language and a colour scheme."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Locator, Page, expect

from dashboard.files import FRONT
from testing.nodejs import node
from testing.pages.browser import Visit
from testing.pages.chromium import new_page
from testing.pages.dashboard import sign_in
from tests.dashboard.pages import WIDER

PHONE, DESKTOP = 390, 1280
_HEIGHTS = {PHONE: 844, DESKTOP: 800}
_LOCALES = {"en": "en-GB", "de": "de-DE"}


class Look(NamedTuple):
    language: str
    width: int
    scheme: str

    def __str__(self) -> str:
        return f"{self.language}-{self.width}-{self.scheme}"

    def options(self) -> dict[str, Any]:
        """The options of the browser's context."""
        return {
            "locale": _LOCALES[self.language],
            "viewport": {"width": self.width, "height": _HEIGHTS[self.width]},
            "has_touch": self.width == PHONE,
            "color_scheme": self.scheme,
            "reduced_motion": "reduce",
            "timezone_id": "Europe/Berlin",
        }


# Each pair of a language, a width and a scheme is in one of these: no style and no text depends on all three.
_PAIRWISE = [
    Look("en", DESKTOP, "light"),
    Look("en", PHONE, "dark"),
    Look("de", DESKTOP, "dark"),
    Look("de", PHONE, "light"),
]
_EVERY_LOOK = [
    Look(language, width, scheme)
    for language in _LOCALES
    for width in (DESKTOP, PHONE)
    for scheme in ("light", "dark")
]
# The pictures show all.
LOOKS = _EVERY_LOOK if "WALK_PICTURES" in os.environ else _PAIRWISE
_PRINT = """
import { texts } from "./texts.mjs";
console.log(JSON.stringify(texts));
"""


@cache
def texts(language: str, folder: Path) -> dict[str, Any]:
    """The texts of the dashboard."""
    (folder / "texts.mjs").write_text((FRONT / f"texts/{language}.js").read_text())
    (folder / "print.mjs").write_text(_PRINT)
    done = node(folder / "print.mjs", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Walker:
    """``pictures`` is the folder of the screenshots, if there shall be any."""

    def __init__(
        self, page: Page, look: Look, *, address: str, texts: dict[str, Any], pictures: Path | None
    ) -> None:
        self.visit = Visit(page)
        self.page = page
        self.look = look
        self.address = address
        self._texts = texts
        self._pictures = pictures

    def another(self) -> Walker:
        """Another person, with a browser of the same look."""
        browser = self.page.context.browser
        assert browser is not None
        page = new_page(browser, **self.look.options())
        return Walker(page, self.look, address=self.address, texts=self._texts, pictures=self._pictures)

    def sign_in(self, cookie: str) -> None:
        sign_in(self.visit, self.address, cookie)

    def open(self, path: str) -> None:
        self.page.goto(self.address + path)

    def say(self, key: str, count: int | None = None, **values: Any) -> str:
        """A text of the dashboard in the walker's language."""
        text = self._texts[key]
        if count is not None:
            text, values = text["one" if count == 1 else "other"], {"count": count, **values}
        return str(re.sub(r"\{(\w+)\}", lambda name: str(values[name[1]]), text))

    def button(self, key: str, count: int | None = None, **values: Any) -> Locator:
        """A button or what looks like one."""
        return self.page.get_by_role("button", name=self.say(key, count, **values), exact=True)

    def field(self, key: str) -> Locator:
        return self.page.get_by_label(self.say(key)).first

    def sees(self, key: str, count: int | None = None, **values: Any) -> None:
        expect(self.page.get_by_text(self.say(key, count, **values)).first).to_be_visible()

    def unfold(self, key: str) -> None:
        self.page.locator("summary", has_text=self.say(key)).first.click()

    def go(self, key: str) -> None:
        """To a place of the navigation."""
        name = self.say(key)
        place = self.page.get_by_role("link", name=name, exact=True)
        if not place.first.is_visible():
            self.page.get_by_role("button", name=self.say("nav.more"), exact=True).click()
        place.locator("visible=true").first.click()

    def picture(self, name: str) -> None:
        """The screen as it is now. Checks that nothing is wider than it."""
        page = self.page
        expect(page.locator("main :not(progress)[aria-busy=true]")).to_have_count(0)
        assert page.evaluate(WIDER) == []
        if self._pictures is not None:
            self._pictures.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=self._pictures / f"{name}.{self.look}.png")

    def errors(self, *expected_statuses: int) -> list[str]:
        return self.visit.errors(*expected_statuses)
