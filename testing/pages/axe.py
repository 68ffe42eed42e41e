"""What axe finds on a page."""

from __future__ import annotations

from typing import Literal

from playwright.sync_api import Page

from testing.nodejs import node_modules

Scheme = Literal["light", "dark"]

SCHEMES: tuple[Scheme, ...] = ("light", "dark")
WIDTHS = (360, 1280)
# The schemes differ in nothing else.
_RULES_OF_COLORS = ["color-contrast", "link-in-text-block"]
# axe does not decide about text in the colour of its background, which could be hidden on purpose. Here, none is.
RUN = """async rules => {
    const options = { resultTypes: ["violations", "incomplete"], ...(rules && { runOnly: rules }) };
    const results = await axe.run(document, options);
    const invisible = node => node.any.some(check => check.data?.messageKey === "equalRatio");
    return [
        ...results.violations.filter(violation => ["serious", "critical"].includes(violation.impact)),
        ...results.incomplete.map(rule => ({ ...rule, nodes: rule.nodes.filter(invisible) })),
    ].flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.target} ${node.failureSummary}`));
}"""


def load_axe(page: Page) -> None:
    page.evaluate((node_modules() / "axe-core/axe.min.js").read_text())


def problems_of(page: Page, scheme: Scheme) -> list[str]:
    """In the light all, in the dark what depends on colors."""
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    violations: list[str] = page.evaluate(RUN, None if scheme == "light" else _RULES_OF_COLORS)
    return violations
