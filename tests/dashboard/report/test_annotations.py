"""The report says when the link changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import expect
from rest_framework.test import APIClient

from accounts.models import Change
from tests.dashboard.report_page import MARCH, total, url_of
from tests.dashboard.report_page import link as link

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def change(api: APIClient, link: str, day: int, **fields: Any) -> None:
    assert api.put(f"/api/urls/{link}", fields).status_code == 200
    newest = Change.objects.filter(object_id=link).order_by("-id")[:1].get()
    Change.objects.filter(pk=newest.pk).update(changed_at=datetime(2026, 3, day, 9, 30, tzinfo=UTC))


def test_changes_of_the_period_are_named(
    signed_in: Callable[..., Any], address: str, api: APIClient, link: str
) -> None:
    change(api, link, 5, targetUrl="https://example.com/new", title="Spring")
    change(api, link, 9, isActive=False)
    assert api.put(f"/api/urls/{link}", {"title": "Today"}).status_code == 200
    with signed_in() as visit:
        page = visit.page
        page.goto(url_of(address, link, MARCH))
        page.get_by_text("This link changed 2 times in this period").click()
        texts = page.locator(".annotations li").all_inner_texts()
        assert [text.split(": ", 1)[1] for text in texts] == ["Title, Destination URL", "Active"]
        assert [
            page.locator(".annotations time").nth(place).get_attribute("datetime") for place in (0, 1)
        ] == [
            "2026-03-05T09:30:00Z",
            "2026-03-09T09:30:00Z",
        ]
        page.get_by_role("link", name="History of the link").click()
        expect(page.get_by_role("heading", name="History of the link")).to_be_visible()
        assert visit.errors() == []


def test_a_report_without_its_history_has_no_annotations(
    signed_in: Callable[..., Any], address: str, api: APIClient, link: str
) -> None:
    change(api, link, 5, isActive=False)
    with signed_in() as visit:
        page = visit.page
        page.route("**/api/urls/*/history*", lambda route: route.fulfill(status=500, body="{}"))
        page.goto(url_of(address, link, MARCH))
        expect(total(page, "clicks")).to_have_text("6")
        expect(page.locator(".chart canvas")).to_be_visible()
        expect(page.locator(".annotations")).to_have_count(0)
        expect(page.get_by_role("alert")).to_have_count(0)
