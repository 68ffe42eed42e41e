"""Schedules as the hours of a week, and shares of visitors as a bar, by pointer and by keyboard, in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from links.models import Link
from tests.dashboard.links.editor_page import DESTINATION, open_link, unfold

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
URL = "https://example.com/other"
WEEKDAYS = ["mon", "tue", "wed", "thu", "fri"]


def save(page: Page) -> Any:
    """Return what the page sends."""
    with page.expect_request(lambda request: request.method == "PUT") as put:
        page.get_by_role("button", name="Save", exact=True).click()
    # The bar is there as long as there is something to save.
    expect(page.locator(".savebar")).to_have_count(0)
    return put.value.post_data_json


def middle(target: Locator) -> tuple[float, float]:
    box = target.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Page, start: Locator, end: tuple[float, float]) -> None:
    start.scroll_into_view_if_needed()
    page.mouse.move(*middle(start))
    page.mouse.down()
    page.mouse.move(*end, steps=20)
    page.mouse.up()


def add_rule(page: Page, kind: str) -> None:
    """Its address is typed without a scheme."""
    unfold(page, "Rules")
    page.get_by_role("button", name="Add a rule").click()
    page.get_by_label("Condition", exact=True).select_option(kind)
    page.locator("[name='rules.0.url']").fill("example.com/other")


def schedules(page: Page) -> list[dict[str, Any]]:
    """Save, and return the schedules that the page sends."""
    [rule] = save(page)["rules"]
    [condition] = rule["conditions"]
    assert condition["type"] == "schedule"
    values: list[dict[str, Any]] = condition["values"]
    return values


def test_hours_are_painted_with_the_pointer_and_switched_with_the_keyboard(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(DESTINATION)
    with signed_in() as visit:
        page = open_link(visit, address, link)
        add_rule(page, "schedule")
        page.locator(".week-zone select").select_option("Europe/Berlin")
        first = page.get_by_role("button", name="Tuesday 10:00")
        first.scroll_into_view_if_needed()
        drag(page, first, middle(page.get_by_role("button", name="Tuesday 13:00")))
        assert schedules(page) == [
            {"days": ["tue"], "from": "10:00", "until": "14:00", "timezone": "Europe/Berlin"}
        ]
        # From the hour that was painted last: two hours later, then a day down.
        first.focus()
        for key in ("Space", "ArrowRight", "ArrowRight", "ArrowDown", "Space"):
            page.keyboard.press(key)
        assert schedules(page) == [
            {"days": ["tue"], "from": "11:00", "until": "14:00", "timezone": "Europe/Berlin"},
            {"days": ["wed"], "from": "12:00", "until": "13:00", "timezone": "Europe/Berlin"},
        ]
        page.get_by_role("button", name="Monday to Friday, 9 to 17").click()
        page.get_by_role("button", name="Sunday, the whole day").click()
        assert schedules(page) == [
            {"days": WEEKDAYS, "from": "09:00", "until": "17:00", "timezone": "Europe/Berlin"},
            {"days": ["sun"], "from": "00:00", "until": "00:00", "timezone": "Europe/Berlin"},
        ]
        assert visit.errors() == []
    [rule] = Link.objects.get().rules
    assert rule["url"] == URL
    assert [value["days"] for value in rule["conditions"][0]["values"]] == [WEEKDAYS, ["sun"]]


def test_finer_times_stay_until_the_user_chooses_hours(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    finer = {"days": ["mon"], "from": "09:30", "until": "17:00", "timezone": "UTC"}
    condition = {"type": "schedule", "values": [finer]}
    link = make_link(DESTINATION, rules=[{"url": URL, "conditions": [condition]}])
    with signed_in() as visit:
        page = open_link(visit, address, link)
        unfold(page, "Rules")
        assert page.locator(".week-words > p").inner_text() == "Mon 09:30\N{EN DASH}17:00 (UTC)"
        page.get_by_label("Title").fill("Changed")
        assert save(page) == {"title": "Changed"}
        page.get_by_role("button", name="Choose whole hours instead").click()
        page.get_by_role("button", name="Monday, the whole day").click()
        assert [(value["days"], value["from"], value["until"]) for value in schedules(page)] == [
            (["mon"], "00:00", "00:00")
        ]
        assert visit.errors() == []


def test_shares_are_dragged_and_moved_with_the_keyboard(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    split = [{"url": f"https://example.com/{name}", "name": name, "weight": 25} for name in ("a", "b")]
    link = make_link(DESTINATION, split=split)
    with signed_in() as visit:
        page = open_link(visit, address, link)
        unfold(page, "Split")
        bar = page.locator(".split-bar").bounding_box()
        assert bar is not None
        # To 40 % of the bar: a has 25, so b gets 15.
        second = page.get_by_role("slider", name="Share of b, taken from everybody else")
        drag(page, second, (bar["x"] + bar["width"] * 0.4, bar["y"] + bar["height"] / 2))
        first = page.get_by_role("slider", name="Share of a, taken from b")
        first.press("ArrowRight")
        first.press("PageUp")
        save(page)
        assert visit.errors() == []
    assert [entry["weight"] for entry in Link.objects.get().split] == [36, 4]


def test_a_period_is_in_the_zone_that_is_chosen(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(DESTINATION)
    with signed_in() as visit:
        page = open_link(visit, address, link)
        add_rule(page, "time")
        page.get_by_label("From", exact=True).fill("2040-06-01T12:30")
        page.get_by_label("Time zone of the first moment").focus()
        page.get_by_label("Time zone of the first moment").select_option("Asia/Tokyo")
        page.get_by_label("Until", exact=True).fill("2040-07-01T12:30")
        expected = page.evaluate("new Date('2040-07-01T12:30').toISOString().slice(0, 19)")
        save(page)
        assert visit.errors() == []
    [rule] = Link.objects.get().rules
    [period] = rule["conditions"][0]["values"]
    assert (period["from"][:19], period["until"][:19]) == ("2040-06-01T03:30:00", expected)
