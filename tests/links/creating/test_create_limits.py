"""The limits of each field of a new link: lengths, numbers, countries, devices and dates."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from testing.links.calls import whole
from testing.refusals import broken_rules
from tests.links.creation import FAMILY, RESTRICTION_LISTS, URL, UTM_KEYS, at, refused

FOUR_CODE_POINTS = unicodedata.normalize("NFD", "\u1f82")  # alpha with three marks: one character after NFC
TEXT_WITHIN_LIMITS = [
    ("title", "x" * 200),
    ("title", "\N{GRINNING FACE}" * 200),
    ("title", FAMILY * 28),
    ("title", "e\u0301" * 200),
    ("title", FOUR_CODE_POINTS * 200),
    ("description", "x" * 500),
    ("description", "\N{GRINNING FACE}" * 500),
    ("description", FOUR_CODE_POINTS * 500),
    *[(f"utm.{key}", "x" * 200) for key in UTM_KEYS],
    ("utm.source", "\N{GRINNING FACE}" * 200),
    ("utm.source", ""),
    ("tags.0", "x"),
    ("tags.0", "x" * 50),
    ("tags.0", "\N{GRINNING FACE}" * 50),
]


@pytest.mark.parametrize("name", sorted({field for field, _ in TEXT_WITHIN_LIMITS}))
def test_text_up_to_the_limit_is_kept_as_it_is(
    api: APIClient, make_link: Callable[..., Any], name: str
) -> None:
    for field, text in TEXT_WITHIN_LIMITS:
        if field == name:
            body = at(field, text)
            top = field.partition(".")[0]
            assert whole(api, make_link(**body))[top] == body[top]


TEXT_BEYOND_LIMITS = [
    ("title", "x" * 201, "max_length"),
    ("title", "\N{GRINNING FACE}" * 201, "max_length"),
    ("title", FAMILY * 29, "max_length"),
    ("title", "e\u0301" * 201, "max_length"),
    ("title", " " * 201, "max_length"),
    ("title", "x" * 60_000, "max_length"),
    ("description", "x" * 501, "max_length"),
    ("description", FOUR_CODE_POINTS * 501, "max_length"),
    *[(f"utm.{key}", "x" * 201, "max_length") for key in UTM_KEYS],
    ("tags.0", "", "blank"),
    ("tags.0", "x" * 51, "max_length"),
    ("tags.0", "\N{GRINNING FACE}" * 51, "max_length"),
    ("password", "", "blank"),
    ("password", "x" * 129, "max_length"),
    ("password", "\N{GRINNING FACE}" * 129, "max_length"),
    ("originalUrl", "https://example.com/" + "a" * 2029, "too_long"),
    ("originalUrl", "https://example.com/" + "\u00e9" * 339, "too_long"),
    ("originalUrl", "https://example.com/" + "a/../" * 2000, "too_long"),
]


@pytest.mark.parametrize("name", sorted({field for field, _, _ in TEXT_BEYOND_LIMITS}))
def test_text_beyond_the_limit_is_refused(api: APIClient, name: str) -> None:
    for field, text, code in TEXT_BEYOND_LIMITS:
        if field == name:
            response = refused(api, {"originalUrl": URL, **at(field, text)}, 400)
            assert broken_rules(response) == [(field, code)]


@pytest.mark.parametrize(
    "address",
    [
        "https://example.com/" + "a" * 2028,
        # The limit is that of the canonical form: percent-encoding lengthens, dot segments shorten.
        "https://example.com/" + "\u00e9" * 338,
        "https://example.com/" + "a/../" * 1000 + "end",
    ],
)
def test_an_address_of_2048_characters_is_kept(
    api: APIClient, make_link: Callable[..., Any], address: str
) -> None:
    assert whole(api, make_link(address))["originalUrl"] == address


def test_fifty_tags_are_kept_in_their_order_and_one_more_is_refused(
    api: APIClient, make_link: Callable[..., Any]
) -> None:
    tags = [f"{number:02} " + "x" * 47 for number in range(50)]
    assert whole(api, make_link(tags=tags[::-1]))["tags"] == tags[::-1]
    assert broken_rules(refused(api, {"originalUrl": URL, "tags": [*tags, "one more"]}, 400)) == [
        ("tags", "max_length")
    ]


def test_max_clicks_within_bounds_is_kept(api: APIClient, make_link: Callable[..., Any]) -> None:
    for clicks in (1, 2, 2_147_483_646, 2_147_483_647):
        assert whole(api, make_link(restrictions={"maxClicks": clicks}))["restrictions"] == {
            "maxClicks": clicks
        }


def test_max_clicks_out_of_bounds_is_refused(api: APIClient) -> None:
    verdicts = {
        clicks: broken_rules(refused(api, {"originalUrl": URL, "restrictions": {"maxClicks": clicks}}, 400))
        for clicks in (0, -1, -(2**31), -(10**30), 2_147_483_648, 2**63, 10**300)
    }
    assert verdicts == {
        clicks: [("restrictions.maxClicks", "min_value" if clicks < 1 else "max_value")]
        for clicks in verdicts
    }


@pytest.mark.parametrize("redirect_type", [301, 302])
def test_both_redirect_types_are_stored_and_returned(
    api: APIClient, make_link: Callable[..., Any], visitor: Client, redirect_type: int
) -> None:
    link = make_link(redirectType=redirect_type)
    assert whole(api, link)["redirectType"] == redirect_type
    assert visitor.get("/" + link["shortCode"]).status_code == redirect_type


def test_other_redirect_types_are_refused(api: APIClient) -> None:
    for redirect_type in (0, 1, -302, 200, 300, 303, 304, 307, 308, 3020, 10**40):
        response = refused(api, {"originalUrl": URL, "redirectType": redirect_type}, 400)
        assert broken_rules(response) == [("redirectType", "redirect_type")]


@pytest.mark.parametrize("name", ["allowedCountries", "blockedCountries"])
def test_countries_are_stored_in_upper_case_and_once(
    api: APIClient, make_link: Callable[..., Any], name: str
) -> None:
    link = make_link(restrictions={name: ["de", "DE", "Fr", "xk", "dE", "FR"]})
    assert whole(api, link)["restrictions"] == {name: ["DE", "FR", "XK"]}


NO_COUNTRIES = [
    "XX", "ZZ", "UK", "EU", "AN", "D", "GER", "276", "D3", "Germany", "DE,FR", "*", "**", "\u0414\u0415",
    "\uff24\uff25", "\u24b9\u24ba", "\U0001d403\U0001d404",
]  # fmt: skip


@pytest.mark.parametrize("name", ["allowedCountries", "blockedCountries"])
def test_an_invalid_country_is_refused(api: APIClient, name: str) -> None:
    for code in [*NO_COUNTRIES, "de ", " de", "DE\n", "D E", "'; --"]:
        response = refused(api, {"originalUrl": URL, "restrictions": {name: ["DE", code]}}, 400)
        assert broken_rules(response) == [(f"restrictions.{name}.1", "country")]


@pytest.mark.parametrize("text", ["\u00df", "\ufb01", "\u0131t", "\u017fe"])
def test_non_ascii_letters_that_upper_case_to_a_country_are_refused(api: APIClient, text: str) -> None:
    response = refused(api, {"originalUrl": URL, "restrictions": {"allowedCountries": [text]}}, 400)
    assert broken_rules(response) == [("restrictions.allowedCountries.0", "country")]


def test_an_empty_country_or_device_is_refused(api: APIClient) -> None:
    body = {"originalUrl": URL, "restrictions": {name: [""] for name in RESTRICTION_LISTS}}
    assert broken_rules(refused(api, body, 400)) == [
        (f"restrictions.{name}.0", "blank") for name in RESTRICTION_LISTS
    ]


def test_lists_of_restrictions_have_a_maximum_length(api: APIClient) -> None:
    body = {
        "originalUrl": URL,
        "restrictions": {
            "allowedCountries": ["DE"] * 301,
            "blockedCountries": ["DE"] * 301,
            "allowedDevices": ["mobile"] * 11,
        },
    }
    assert broken_rules(refused(api, body, 400)) == [
        (f"restrictions.{name}", "max_length") for name in RESTRICTION_LISTS
    ]


@pytest.mark.parametrize("device", ["desktop", "mobile", "tablet"])
def test_each_device_is_kept_once(api: APIClient, make_link: Callable[..., Any], device: str) -> None:
    link = make_link(restrictions={"allowedDevices": [device, device]})
    assert whole(api, link)["restrictions"] == {"allowedDevices": [device]}


def test_an_invalid_device_is_refused(api: APIClient) -> None:
    for device in ("Desktop", "MOBILE", "phone", "bot", "unknown", "mobile ", "tablet\n", "*"):
        response = refused(api, {"originalUrl": URL, "restrictions": {"allowedDevices": [device]}}, 400)
        assert broken_rules(response) == [("restrictions.allowedDevices.0", "device")]
