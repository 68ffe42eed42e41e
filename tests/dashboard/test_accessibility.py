"""axe finds nothing serious on any page of the dashboard, in both colour schemes, on phones and on desktops."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from dashboard import urls
from links.models import Link
from testing.pages.axe import SCHEMES, WIDTHS, load_axe, problems_of
from tests.dashboard.pages import PAGES, WIDER, fill_account, open_page, pages

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def ids(api: APIClient, make_link: MakeLink, alice: NewAccount) -> dict[str, str]:
    """A link with something to show in each part of the pages, and a team."""
    deleted = make_link("https://example.com/deleted", title="Deleted", tags=["spring"])
    assert api.delete(f"/api/urls/{deleted['_id']}").status_code == 200
    make_link("https://example.com/off", title="Switched off", tags=["spring", "sale"])
    make_link("https://example.com/expired", expiresAt="2099-01-01T00:00:00Z")
    Link.objects.update(is_active=False)
    soon = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    make_link("https://example.com/soon", expiresAt=soon)
    link = make_link(
        "https://example.com/page",
        title="Everything",
        description="A description",
        tags=["spring"],
        utm={"source": "news"},
        expiresAt="2099-01-01T00:00:00Z",
        password="secret",
        restrictions={"allowedCountries": ["DE", "CH"], "allowedDevices": ["mobile"], "maxClicks": 5},
        rules=[
            {
                "name": "Phones",
                "url": "https://example.com/phone",
                "conditions": [
                    {"type": "device", "values": ["mobile"]},
                    {"type": "query", "values": [{"name": "q", "value": "1"}]},
                ],
            }
        ],
        split=[
            {"name": "A", "url": "https://example.com/a", "weight": 1},
            {"name": "B", "url": "https://example.com/b", "weight": 1},
        ],
    )
    api.put(f"/api/urls/{link['_id']}", {"title": "Everything, renamed"})
    return {"link": link["_id"], **fill_account(alice, ["Ann", "Ben"])}


def test_every_page_of_the_dashboard_is_tested() -> None:
    paths = {re.sub(r"<\w+:\w+>", "*", f"/dashboard/{path}") for path in urls.PAGES}
    assert {re.sub(r"\{\w+\}", "*", shown.path.partition("?")[0]) for shown in PAGES.values()} == paths


@pytest.mark.parametrize("is_signed_in", [True, False], ids=["signed in", "signed out"])
def test_no_serious_problems(
    browse: Callable[[], Any],
    signed_in: Callable[..., Any],
    address: str,
    ids: dict[str, str],
    is_signed_in: bool,
) -> None:
    """No page scrolls sideways, either."""
    problems = []
    with (signed_in if is_signed_in else browse)() as visit:
        page = visit.page
        for name, shown in pages(is_signed_in=is_signed_in).items():
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                page.emulate_media(color_scheme=SCHEMES[0], reduced_motion="reduce")
                open_page(page, address, shown, **ids)
                load_axe(page)
                problems += [f"{name}, {width} px: too wide: {element}" for element in page.evaluate(WIDER)]
                for scheme in SCHEMES:
                    problems += [
                        f"{name}, {scheme}, {width} px: {problem}" for problem in problems_of(page, scheme)
                    ]
    assert problems == []


def test_a_button_under_the_pointer_has_enough_contrast(
    signed_in: Callable[..., Any], address: str, ids: dict[str, str]
) -> None:
    problems = []
    with signed_in() as visit:
        page = visit.page
        page.emulate_media(color_scheme=SCHEMES[0], reduced_motion="reduce")
        open_page(page, address, PAGES["edit"], **ids)
        load_axe(page)
        for kind in (".button:not([class~=quiet])", "button.icon-button", "button.small-button"):
            button = page.locator("main").locator(kind).locator("visible=true").first
            button.hover()
            for scheme in SCHEMES:
                problems += [f"{kind}, {scheme}: {problem}" for problem in problems_of(page, scheme)]
            assert button.evaluate("element => element.matches(':hover')")
    assert problems == []


def test_axe_reports_a_missing_label_and_a_low_contrast(
    signed_in: Callable[..., Any], address: str, ids: dict[str, str]
) -> None:
    """The tests above could not fail otherwise."""
    with signed_in() as visit:
        open_page(visit.page, address, PAGES["list"])
        load_axe(visit.page)
        visit.page.evaluate(
            """() => {
                const field = document.createElement("input");
                const text = document.createElement("p");
                text.textContent = "Hardly visible";
                text.style.color = "#eee";
                text.style.backgroundColor = "#fff";
                document.querySelector("main").append(field, text);
            }"""
        )
        assert {problem.partition(":")[0] for problem in problems_of(visit.page, SCHEMES[0])} == {
            "label",
            "color-contrast",
        }
