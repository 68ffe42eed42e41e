"""``POST /api/urls/{id}/simulate``: which checks a described visit passes, and where it would end."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from redirects.checks import ORDER
from testing.visitors.addresses import AMERICAN, BRITISH
from testing.visitors.agents import MOBILE
from tests.redirects.simulation.simulated import DESTINATION, FOLLOWED, MakeLink, Simulate, detail, last


def test_a_visit_without_any_detail_passes_every_check_of_a_plain_link(
    make_link: MakeLink, simulate: Simulate
) -> None:
    link = make_link(DESTINATION)

    simulation = simulate(link)

    assert simulation["outcome"] == FOLLOWED
    assert simulation["steps"] == [
        {"check": "found", "passed": True, "detail": f"The code {link['shortCode']} on sho.rt belongs to this link."},
        {"check": "active", "passed": True, "detail": "The link is switched on, and no ban applies."},
        {"check": "started", "passed": True, "detail": "The link has no start."},
        {"check": "not_expired", "passed": True, "detail": "The link does not expire."},
        {"check": "clicks_left", "passed": True, "detail": "No click limit."},
        {"check": "country", "passed": True, "detail": "The link is available in all countries."},
        {"check": "device", "passed": True, "detail": "The link is available on all devices."},
        {"check": "password", "passed": True, "detail": "The link has no password."},
        {"check": "rule", "passed": True, "detail": "The link has no rules."},
        {"check": "split", "passed": True, "detail": "The link has no split."},
        {
            "check": "target",
            "passed": True,
            "detail": f"The destination is the originalUrl of the link, {DESTINATION}.",
        },
        {"check": "claim", "passed": True, "detail": "No click limit."},
        {
            "check": "answer",
            "passed": True,
            "detail": f"The visitor is redirected to {DESTINATION} with 302; the visit counts as a click.",
        },
    ]  # fmt: skip
    assert [step["check"] for step in simulation["steps"]] == [*ORDER]


@pytest.mark.parametrize(
    ("fields", "visit", "step", "outcome"),
    [
        (
            {"expiresAt": "2030-03-01T09:30:00Z"},
            {"time": "2030-03-01T10:30:00+01:00"},
            ("not_expired", "The link expires on 2030-03-01 at 09:30 UTC; the visit is on 2030-03-01 at 09:30 UTC."),
            (410, "expired"),
        ),
        (
            {"restrictions": {"allowedCountries": ["DE", "FR"], "blockedCountries": ["JP"]}},
            {"address": BRITISH},
            ("country", "The visitor's country is GB; the link allows DE, FR and blocks JP."),
            (403, "country"),
        ),
        (
            {"restrictions": {"allowedCountries": ["DE"]}},
            {},
            ("country", "The visitor's country is unknown, which is in no list; the link allows DE."),
            (403, "country"),
        ),
        (
            {"restrictions": {"blockedCountries": ["DE"]}},
            {"address": BRITISH, "country": "de"},
            ("country", "The visitor's country is DE; the link blocks DE."),
            (403, "country"),
        ),
        (
            {"restrictions": {"allowedDevices": ["desktop", "tablet"]}},
            {"userAgent": MOBILE},
            ("device", "The visitor's device is mobile; the link allows desktop, tablet."),
            (403, "device"),
        ),
        (
            {"restrictions": {"allowedDevices": ["desktop"]}},
            {"device": "tablet"},
            ("device", "The visitor's device is tablet; the link allows desktop."),
            (403, "device"),
        ),
        (
            {"password": "secret"},
            {"method": "POST"},
            ("password", "The link has a password, and the visitor has not entered it."),
            (401, "password"),
        ),
    ],
)  # fmt: skip
def test_the_last_step_is_the_refusal_with_the_values_that_decided(
    make_link: MakeLink,
    simulate: Simulate,
    *,
    fields: dict[str, Any],
    visit: dict[str, Any],
    step: tuple[str, str],
    outcome: tuple[int, str],
) -> None:
    simulation = simulate(make_link(**fields), **visit)

    assert last(simulation) == (step[0], False, step[1])
    assert [each["passed"] for each in simulation["steps"][:-1]] == [True] * ORDER.index(step[0])
    assert simulation["outcome"] == {
        **FOLLOWED,
        "status": outcome[0],
        "reason": outcome[1],
        "location": None,
        "counted": False,
        "kind": "refused",
    }


def test_a_restriction_that_the_visit_meets_is_explained_too(make_link: MakeLink, simulate: Simulate) -> None:
    link = make_link(
        expiresAt="2030-03-01T09:30:15.5Z",
        password="secret",
        restrictions={"maxClicks": 25, "allowedCountries": ["US"], "allowedDevices": ["mobile"]},
    )

    simulation = simulate(link, address=AMERICAN, device="mobile", unlocked=True, time="2030-03-01T09:30:15Z")

    assert [step["detail"] for step in simulation["steps"][3:8]] == [
        "The link expires on 2030-03-01 at 09:30:15.5 UTC; the visit is on 2030-03-01 at 09:30:15 UTC.",
        "0 of 25 clicks are used.",
        "The visitor's country is US; the link allows US.",
        "The visitor's device is mobile; the link allows mobile.",
        "The link has a password, and the visitor has entered it.",
    ]
    assert detail(simulation, "claim") == "The visit claims click 1 of 25."
    assert simulation["outcome"] == FOLLOWED


def test_a_link_that_is_switched_off_is_explained(
    api: APIClient, make_link: MakeLink, simulate: Simulate
) -> None:
    link = make_link(isActive=False)

    simulation = simulate(link)

    assert last(simulation) == ("active", False, "The owner has switched the link off.")
    assert (simulation["outcome"]["status"], simulation["outcome"]["reason"]) == (410, "disabled")
