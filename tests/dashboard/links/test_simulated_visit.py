"""A simulated visit in the editor of a link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.dashboard.links.editor_page import DESTINATION, MakeLink, open_link, unfold

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

# Of a visit that counts as a click and to which a rule applies.
GERMAN_STEPS = [
    "Der Code gehört zu diesem Link.",
    "Der Link ist eingeschaltet und nicht gesperrt.",
    "Der Link gilt zum Zeitpunkt des Besuchs schon.",
    "Der Link ist zum Zeitpunkt des Besuchs nicht abgelaufen.",
    "Die Klicks des Links sind nicht aufgebraucht.",
    "Der Link ist im Land des Besuchers verfügbar.",
    "Der Link ist auf dem Gerät des Besuchers verfügbar.",
    "Ein Passwort ist nicht nötig, oder der Besucher hat es eingegeben.",
    "Eine Regel passt und bestimmt das Ziel.",
    "Die Aufteilung ist geprüft: Sie gilt, wenn es sie gibt und keine Regel passt.",
    "Das Ziel steht fest.",
    "Eine Begrenzung der Klicks hindert den Besuch nicht.",
    "Der Besucher bekommt eine Antwort. Der Besuch zählt als Klick.",
]


def test_a_visit_can_be_simulated(signed_in: Callable[..., Any], address: str, make_link: MakeLink) -> None:
    rules = [{"url": "https://example.com/de", "conditions": [{"type": "country", "values": ["DE"]}]}]
    link = make_link(DESTINATION, rules=rules)
    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.locator(".simulation [name=country]").select_option("DE")
        expect(page.locator("output[name=location]")).to_have_text("example.com/de")
        page.locator(".simulation [name=country]").select_option("FR")
        expect(page.locator("output[name=location]")).to_have_text("example.com/page")
        assert visit.errors() == []


def test_a_simulated_visit_is_explained_in_the_language_of_the_page(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    rules = [{"url": "https://example.com/de", "conditions": [{"type": "country", "values": ["DE"]}]}]
    fields = {"rules": rules, "restrictions": {"blockedCountries": ["FR"]}}
    link = make_link(DESTINATION, **fields)
    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.evaluate("localStorage.setItem('dashboard.language', 'de')")
        page.reload()
        unfold(page, "Alle Prüfungen")
        steps, details = page.locator(".checks li > span"), page.locator(".checks li > small")
        page.locator(".simulation [name=country]").select_option("DE")
        expect(steps).to_have_text(GERMAN_STEPS)
        expect(page.locator(".checks [data-passed=true]")).to_have_count(len(GERMAN_STEPS))
        page.locator(".simulation [name=country]").select_option("FR")
        refused = "Der Link ist im Land des Besuchers nicht verfügbar."
        expect(steps).to_have_text([*GERMAN_STEPS[:5], refused])
        expect(page.locator(".checks [data-passed=false]")).to_have_count(1)
        # The API's own sentence has the values that decided.
        expect(details.last).to_have_text("(The visitor's country is FR; the link blocks FR.)")
        assert visit.errors() == []
