"""Values of the wrong type, and unknown keys, of a new link."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from testing.cases import for_each
from testing.refusals import broken_rules
from tests.links.creation import RESTRICTION_LISTS, URL, UTM_KEYS, at, refused

NOT_A_STRING = [5, 0, 1.5, True, False, [], ["text"], {}, {"text": "text"}]
NOT_AN_INTEGER = ["5", "", "five", 5.0, 5.5, True, False, [], [5], {}]
NOT_A_LIST = ["DE", "", 5, 1.5, True, False, {}, {"0": "DE"}]
NOT_AN_OBJECT = ["text", "", 5, 1.5, True, False, [], [{}]]
WRONG_TYPES = [
    *[
        (field, value, "invalid")
        for field in (
            "originalUrl",
            "customCode",
            "title",
            "description",
            "password",
            "domainId",
            *(f"utm.{key}" for key in UTM_KEYS),
            "tags.0",
            "restrictions.allowedCountries.0",
            "restrictions.blockedCountries.0",
            "restrictions.allowedDevices.0",
        )
        for value in NOT_A_STRING
    ],
    *[("expiresAt", value, "invalid") for value in [*NOT_A_STRING, 1893456000, 1893456000.5]],
    *[
        (field, value, "invalid")
        for field in ("restrictions.maxClicks", "redirectType")
        for value in NOT_AN_INTEGER
    ],
    *[
        (field, value, "not_a_list")
        for field in ("tags", *(f"restrictions.{name}" for name in RESTRICTION_LISTS))
        for value in NOT_A_LIST
    ],
    *[(field, value, "invalid") for field in ("utm", "restrictions") for value in NOT_AN_OBJECT],
    *[
        (field, None, "null")
        for field in ("originalUrl", "tags.0", *(f"restrictions.{name}.0" for name in RESTRICTION_LISTS))
    ],
]


@for_each("field", sorted({field for field, _, _ in WRONG_TYPES}))
@pytest.mark.slow
def test_a_value_of_the_wrong_json_type_is_refused(api: APIClient, field: str) -> None:
    for name, value, code in WRONG_TYPES:
        if name == field:
            response = refused(api, {"originalUrl": URL, **at(field, value)}, 400)
            assert broken_rules(response) == [(field, code)], value


def test_a_json_number_with_a_zero_fraction_is_not_an_integer(api: APIClient) -> None:
    for number in ("302.0", "3.02e2", "1e0", "1E5"):
        body = f'{{"originalUrl": "https://example.com/", "redirectType": {number}}}'
        response = api.post("/api/urls", body, content_type="application/json")
        assert response.status_code == 400
        assert broken_rules(response) == [("redirectType", "invalid")]


def test_an_address_is_required(api: APIClient) -> None:
    assert broken_rules(refused(api, {}, 400)) == [("originalUrl", "required")]
    assert broken_rules(refused(api, {"title": "x"}, 400)) == [("originalUrl", "required")]
    assert broken_rules(refused(api, {"originalUrl": ""}, 400)) == [("originalUrl", "blank")]


def test_all_errors_are_reported_together(api: APIClient) -> None:
    response = refused(
        api,
        {
            "originalUrl": "ftp://example.com",
            "customCode": "a b",
            "title": "x" * 201,
            "description": "x" * 501,
            "tags": ["fine", 5, "", "x" * 51, " \u0085"],
            "expiresAt": "tomorrow",
            "password": "",
            "domainId": 5,
            "utm": {"source": 5, "medium": "x" * 201, "campaign": "fine", "content": {}},
            "restrictions": {
                "maxClicks": 0,
                "allowedCountries": ["DE", "XX"],
                "blockedCountries": "FR",
                "allowedDevices": ["desktop", "toaster", None],
            },
            "redirectType": 307,
        },
        400,
    )
    assert sorted(broken_rules(response)) == [
        ("customCode", "code"),
        ("description", "max_length"),
        ("domainId", "invalid"),
        ("expiresAt", "invalid"),
        ("originalUrl", "unsupported_scheme"),
        ("password", "blank"),
        ("redirectType", "redirect_type"),
        ("restrictions.allowedCountries.1", "country"),
        ("restrictions.allowedDevices.1", "device"),
        ("restrictions.allowedDevices.2", "null"),
        ("restrictions.blockedCountries", "not_a_list"),
        ("restrictions.maxClicks", "min_value"),
        ("tags.1", "invalid"),
        ("tags.2", "blank"),
        ("tags.3", "max_length"),
        ("tags.4", "blank_tag"),
        ("title", "max_length"),
        ("utm.content", "invalid"),
        ("utm.medium", "max_length"),
        ("utm.source", "invalid"),
    ]


@pytest.mark.parametrize("field", ["utm", "restrictions"])
def test_an_unknown_key_inside_an_object_is_refused(api: APIClient, field: str) -> None:
    for key in ("Source", "maxclicks", "max_clicks", "utm_source", "__proto__", "\N{GRINNING FACE}"):
        response = refused(api, {"originalUrl": URL, field: {key: "x"}}, 400)
        assert broken_rules(response) == [(f"{field}.{key}", "unknown_field")]


def test_an_unknown_key_hides_no_other_error_of_its_object(api: APIClient) -> None:
    body = {
        "originalUrl": URL,
        "utm": {"medum": "x", "source": 5},
        "restrictions": {"cap": 1, "maxClicks": 0},
    }
    assert sorted(broken_rules(refused(api, body, 400))) == [
        ("restrictions.cap", "unknown_field"),
        ("restrictions.maxClicks", "min_value"),
        ("utm.medum", "unknown_field"),
        ("utm.source", "invalid"),
    ]
