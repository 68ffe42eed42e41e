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
        remaining = _MOST_STEPS
        while (distance := target.evaluate(_DISTANCE)) and remaining > 0:
            for _ in range(distance):
                self._page.keyboard.press("Tab")
            remaining -= distance
        assert distance == 0, f"Tab never reaches {target}."
        self._wait_for_visible_focus(target)

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


# An estimate of the steps of Tab to the element: asking after each step would take most of the time. If the page
# has other stops or changes meanwhile, another round follows.
_DISTANCE = """element => {
    if (element === document.activeElement) return 0;
    const stops = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
        .filter(stop => stop.tabIndex >= 0 && !stop.disabled && stop.checkVisibility({ visibilityProperty: true }));
    // After the button of an open popover, Tab goes into the popover, wherever that is in the document.
    const popover = element.closest("[popover]");
    if (popover && document.activeElement.popoverTargetElement === popover)
        return stops.filter(stop => popover.contains(stop)).indexOf(element) + 1;
    const from = stops.indexOf(document.activeElement), to = stops.indexOf(element);
    if (to < 0) return 1;
    // After the last stop, Tab begins with the first one again.
    return to > from ? to - from : Math.max(1, stops.length - from + to);
}"""
# The style of the element, or of the field that it is a part of, shows the focus.
_HAS_VISIBLE_FOCUS = """element => [element, element.closest(".chips, .query")].some(shown => {
    const style = shown && getComputedStyle(shown);
    return style && (style.outlineStyle !== "none" || style.boxShadow !== "none");
})"""
