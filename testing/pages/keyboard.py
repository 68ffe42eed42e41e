"""A page that is used by keyboard alone."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from testing.pages.waiting import wait_until

# More than any page has elements that take the focus.
_MOST_STEPS = 250


class Keyboard:
    def __init__(self, page: Page) -> None:
        self._page = page

    def reach(self, target: Locator) -> None:
        """Press Tab until the element has the focus, which must be visible."""
        expect(target).to_be_visible()
        for _ in range(_MOST_STEPS):
            if target.evaluate("element => element === document.activeElement"):
                self._wait_for_visible_focus(target)
                return
            self._page.keyboard.press("Tab")
        raise AssertionError(f"Tab never reaches {target}.")

    def _wait_for_visible_focus(self, target: Locator) -> None:
        # `Page.wait_for_function` needs `eval`, which the policy of the dashboard forbids.
        wait_until(
            self._page,
            lambda: target.evaluate(_HAS_VISIBLE_FOCUS),
            lambda: f"The focus of {target} is invisible.",
        )

    def press(self, target: Locator, key: str = "Enter") -> None:
        self.reach(target)
        self._page.keyboard.press(key)

    def write(self, target: Locator, text: str) -> None:
        """Replace the content of an input."""
        self.reach(target)
        self._page.keyboard.press("Control+A")
        self._page.keyboard.type(text)


# The style of the element, or of a parent, shows the focus.
_HAS_VISIBLE_FOCUS = """element => {
    const style = getComputedStyle(element);
    return style.outlineStyle !== "none" || style.boxShadow !== "none";
}"""
