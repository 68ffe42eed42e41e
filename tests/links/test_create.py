from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.hashers import check_password
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import get_resolver
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.errors import Conflict
from common.http import destination_url
from domains.models import Domain
from links.codes.format import is_code
from links.codes.reserved import RESERVED, is_route
from links.models import Link
from links.rules import refuse_reserved
from testing.refusals import broken_rules
from tests.links.routing.fields import DEFAULTS

URL = "https://example.com/page"
UTM_KEYS = ("source", "medium", "campaign", "term", "content")
RESTRICTION_LISTS = ("allowedCountries", "blockedCountries", "allowedDevices")
UUID_V7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")

NOT_A_STRING = [5, 0, 1.5, True, False, [], ["text"], {}, {"text": "text"}]
NOT_AN_INTEGER = ["5", "", "five", 5.0, 5.5, True, False, [], [5], {}]
NOT_A_LIST = ["DE", "", 5, 1.5, True, False, {}, {"0": "DE"}]
NOT_AN_OBJECT = ["text", "", 5, 1.5, True, False, [], [{}]]


def everything_written() -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT count(*) FROM links_link), (SELECT count(*) FROM links_code),"
            " (SELECT count(*) FROM links_clickcounter),"
            " (SELECT sum(links)::int FROM links_ownertotals),"
            " (SELECT sum(active_links)::int FROM links_ownertotals),"
            " (SELECT sum(clicks)::int FROM links_ownertotals)"
        )
        return cursor.fetchall()


def refused(api: APIClient, body: dict[str, Any], status: int) -> HttpResponse:
    """The error response of a creation. Asserts that the database is unchanged."""
    before = everything_written()
    response = api.post("/api/urls", body)
    assert response.status_code == status, (body, response.content)
    assert everything_written() == before, body
    return response


def whole(api: APIClient, link: dict[str, Any]) -> dict[str, Any]:
    response = api.get(f"/api/urls/{link['_id']}")
    assert response.status_code == 200
    return response.json()["data"]["url"]


def at(path: str, value: Any) -> dict[str, Any]:
    """``at("utm.source", 5)`` is a body whose ``utm`` is ``{"source": 5}``; a final number stands for a list item."""
    *outer, last = path.split(".")
    nested: Any = [value] if last == "0" else {last: value}
    for key in reversed(outer):
        nested = {key: nested}
    return nested


# Responses


def test_a_link_with_only_a_url_has_every_default(api: APIClient, alice: NewAccount) -> None:
    response = api.post("/api/urls", {"originalUrl": URL})
    assert response.status_code == 201
    assert response["Content-Type"] == "application/json"
    body = response.json()
    url = body["data"]["url"]
    assert UUID_V7.fullmatch(url["_id"])
    assert re.fullmatch(r"[0-9A-Za-z]{7}", url["shortCode"])
    assert MOMENT.fullmatch(url["createdAt"])
    assert body == {
        "success": True,
        "message": "URL created successfully.",
        "data": {
            "url": {
                "_id": url["_id"],
                "originalUrl": URL,
                "shortCode": url["shortCode"],
                "customCode": None,
                "shortUrl": f"http://sho.rt/{url['shortCode']}",
                "title": None,
                "tags": [],
                "clickCount": 0,
                "isActive": True,
                "createdAt": url["createdAt"],
            },
            "domain": {"id": "base", "fullDomain": "sho.rt", "shortUrl": "http://sho.rt"},
        },
    }
    assert whole(api, url) == url | {
        "description": None,
        "expiresAt": None,
        "hasPassword": False,
        "utm": {},
        "restrictions": {},
        "redirectType": 302,
        **DEFAULTS,
        "domainId": "base",
        "creator": {
            "_id": str(alice.user.public_id),
            "firstName": "Ada",
            "lastName": "Lovelace",
            "email": "alice@example.com",
        },
        "updatedAt": url["createdAt"],
    }


def test_every_field_is_kept(api: APIClient) -> None:
    fields: dict[str, Any] = {
        "customCode": "Launch2030",
        "title": "Launch",
        "description": "The launch page",
        "tags": ["Marketing", "q4"],
        "expiresAt": "2030-12-31T23:59:59Z",
        "domainId": "base",
        "utm": {key: f"the {key}" for key in UTM_KEYS},
        "restrictions": {
            "maxClicks": 100,
            "allowedCountries": ["DE", "AT"],
            "blockedCountries": ["FR"],
            "allowedDevices": ["desktop", "mobile", "tablet"],
        },
        "redirectType": 301,
    }
    response = api.post("/api/urls", {"originalUrl": URL, "password": "open sesame", **fields})
    assert response.status_code == 201
    created = response.json()["data"]["url"]
    assert created["shortUrl"] == "http://sho.rt/Launch2030"
    assert (created["customCode"], created["title"]) == ("Launch2030", "Launch")
    assert created["tags"] == ["Marketing", "q4"]
    read = whole(api, created)
    assert {name: read[name] for name in fields} == fields
    assert read["hasPassword"] is True


def test_the_domain_and_the_code_make_the_link(api: APIClient, visitor: Client) -> None:
    data = api.post("/api/urls", {"originalUrl": URL}).json()["data"]
    assert data["url"]["shortUrl"] == f"{data['domain']['shortUrl']}/{data['url']['shortCode']}"
    response = visitor.get("/" + data["url"]["shortCode"])
    assert (response.status_code, response["Location"]) == (302, URL)


def test_custom_and_short_codes_redirect_to_the_same_destination(
    make_link: Callable[..., Any], visitor: Client
) -> None:
    link = make_link(URL, customCode="spring")
    for code in ("spring", link["shortCode"]):
        assert visitor.get(f"/{code}")["Location"] == URL


def test_the_same_address_may_be_shortened_twice(make_link: Callable[..., Any]) -> None:
    first, second = make_link(URL), make_link(URL)
    assert first["_id"] != second["_id"]
    assert first["shortCode"] != second["shortCode"]


def test_a_token_creates_as_a_key_does(bearer: APIClient, api: APIClient) -> None:
    response = bearer.post("/api/urls", {"originalUrl": URL})
    assert response.status_code == 201
    assert whole(api, response.json()["data"]["url"])["originalUrl"] == URL


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-api-key": ""},
        {"x-api-key": "sl_live_" + "0" * 38},
        {"x-api-key": "ключ"},
        {"authorization": "Bearer nonsense"},
        {"authorization": "Bearer "},
    ],
)
@pytest.mark.django_db
def test_creating_requires_a_credential(anonymous: APIClient, headers: dict[str, str]) -> None:
    before = everything_written()
    response = anonymous.post("/api/urls", {"originalUrl": URL}, headers=headers)
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == 'Bearer realm="api"'
    assert response.json().keys() == {"success", "message", "code"}
    assert (response.json()["success"], response.json()["code"]) == (False, "not_authenticated")
    assert everything_written() == before


def test_a_strangers_key_creates_for_the_stranger(
    api: APIClient, strange_api: APIClient, make_link: Callable[..., Any]
) -> None:
    link = strange_api.post("/api/urls", {"originalUrl": URL}).json()["data"]["url"]
    assert strange_api.get(f"/api/urls/{link['_id']}").status_code == 200
    assert api.get(f"/api/urls/{link['_id']}").status_code == 404


def test_fields_that_only_the_service_sets_are_ignored(api: APIClient) -> None:
    foreign = {
        "_id": "019a0000-0000-7000-8000-000000000000",
        "id": 1,
        "shortCode": "chosen1",
        "shortUrl": "http://evil.example/chosen1",
        "clickCount": 99,
        "hasPassword": True,
        "creator": {"email": "mallory@example.com"},
        "owner": 1,
        "owner_id": 1,
        "plan": "enterprise",
        "createdAt": "2001-01-01T00:00:00Z",
        "updatedAt": "2001-01-01T00:00:00Z",
        "destination": "https://evil.example/",
        "": "",
        "__proto__": {"isAdmin": True},
    }
    response = api.post("/api/urls", {"originalUrl": URL, **foreign})
    assert response.status_code == 201
    read = whole(api, response.json()["data"]["url"])
    assert read["_id"] != foreign["_id"]
    assert read["shortCode"] != "chosen1"
    assert (read["clickCount"], read["isActive"], read["hasPassword"]) == (0, True, False)
    assert (read["originalUrl"], read["customCode"], read["restrictions"]) == (URL, None, {})
    assert read["creator"]["email"] == "alice@example.com"
    assert read["createdAt"] > "2020"
    assert read.keys().isdisjoint(
        {"id", "owner", "owner_id", "plan", "custom_code", "destination", "__proto__"}
    )


def test_null_is_the_default(api: APIClient, make_link: Callable[..., Any]) -> None:
    defaults = {
        "customCode": None,
        "title": None,
        "description": None,
        "tags": [],
        "expiresAt": None,
        "domainId": "base",
        "utm": {},
        "restrictions": {},
        "redirectType": 302,
    }
    assert {field: whole(api, make_link(**{field: None}))[field] for field in defaults} == defaults


def test_a_null_password_sets_no_password(api: APIClient, make_link: Callable[..., Any]) -> None:
    assert whole(api, make_link(password=None))["hasPassword"] is False


@pytest.mark.parametrize("key", UTM_KEYS)
def test_a_null_utm_value_is_absent(api: APIClient, make_link: Callable[..., Any], key: str) -> None:
    assert whole(api, make_link(utm={key: None}))["utm"] == {}


@pytest.mark.parametrize("key", ["maxClicks", *RESTRICTION_LISTS])
def test_a_null_or_empty_restriction_restricts_nothing(
    api: APIClient, make_link: Callable[..., Any], key: str
) -> None:
    assert whole(api, make_link(restrictions={key: None}))["restrictions"] == {}
    if key != "maxClicks":
        assert whole(api, make_link(restrictions={key: []}))["restrictions"] == {}


@pytest.mark.parametrize("field", ["title", "description"])
def test_an_empty_text_is_not_null(api: APIClient, make_link: Callable[..., Any], field: str) -> None:
    assert whole(api, make_link(**{field: ""}))[field] == ""


# Wrong types


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


@pytest.mark.parametrize("field", sorted({field for field, _, _ in WRONG_TYPES}))
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


# Limits


FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}\N{ZERO WIDTH JOINER}\N{BOY}"
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


# Restrictions


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


# Expiry


DATES = {
    "2030-12-31T23:59:59Z": "2030-12-31T23:59:59Z",
    "2030-12-31 23:59:59Z": "2030-12-31T23:59:59Z",
    "2030-12-31T23:59Z": "2030-12-31T23:59:00Z",
    "2030-12-31T23:59:59": "2030-12-31T23:59:59Z",
    "2030-12-31T23:59": "2030-12-31T23:59:00Z",
    "2030-12-31": "2030-12-31T00:00:00Z",
    "2030-12-31T23:59:59+00:00": "2030-12-31T23:59:59Z",
    "2030-12-31T23:59:59-00:00": "2030-12-31T23:59:59Z",
    "2030-12-31T23:59:59+02:00": "2030-12-31T21:59:59Z",
    "2030-12-31T23:59:59-0330": "2031-01-01T03:29:59Z",
    "2030-12-31T23:59:59+14:00": "2030-12-31T09:59:59Z",
    "2030-12-31T23:59:59-12": "2031-01-01T11:59:59Z",
    "2030-12-31T23:59:59.5Z": "2030-12-31T23:59:59.500000Z",
    "2030-12-31T23:59:59,5Z": "2030-12-31T23:59:59.500000Z",
    "2030-12-31T23:59:59.123456Z": "2030-12-31T23:59:59.123456Z",
    "2030-12-31T23:59:59.123456789Z": "2030-12-31T23:59:59.123456Z",
    "2028-02-29T00:00:00Z": "2028-02-29T00:00:00Z",
    "0001-01-01T00:00:00Z": "0001-01-01T00:00:00Z",
    "1582-10-10T00:00:00Z": "1582-10-10T00:00:00Z",
    "9999-12-31T23:59:59.999999Z": "9999-12-31T23:59:59.999999Z",
}


def test_an_expiry_date_is_kept_in_utc(api: APIClient, make_link: Callable[..., Any]) -> None:
    assert {text: whole(api, make_link(expiresAt=text))["expiresAt"] for text in DATES} == DATES


def test_dates_accept_lower_case_letters(api: APIClient, make_link: Callable[..., Any]) -> None:
    assert whole(api, make_link(expiresAt="2030-12-31t23:59:59z"))["expiresAt"] == "2030-12-31T23:59:59Z"


NO_DATES = [
    "tomorrow", "now", "never", "infinity", "-infinity", "epoch", "1893456000", "2030", "2030-12",
    "20301231", "2030-W01", "2030-W01-1", "2030-365", "31-12-2030", "12/31/2030", "2030/12/31", "2030-1-1",
    "30-12-31", "2030-12-31T", "2030-12-31Z", "2030-12-31T23", "T23:59:59Z", "2030-12-31T23:59:59ZZ",
    "2030-12-31T24:00:00Z", "2030-12-31T23:60:00Z", "2030-12-31T23:59:60Z", "2016-12-31T23:59:60Z",
    "2030-02-29T00:00:00Z", "2030-02-30", "2030-00-01", "2030-13-01", "2030-01-00", "2030-01-32",
    "0000-01-01", "10000-01-01", "-2030-01-01", "+2030-01-01", "2030-12-31T23:59:59+24:00",
    "2030-12-31T23:59:59+99:99", "2030-12-31T23:59:59.Z", "2030-12-31T23:59:59.1234567890Z",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "\u0662\u0660\u0663\u0660-12-31",
    "\uff12\uff10\uff13\uff10-12-31", "2030\u201012\u201031", "2030-12-31T23:59:59\u22120100",
    "2030-12-31T\u0662\u0663:59:59Z",
]  # fmt: skip
NO_DATES += [
    "",
    " ",
    " 2030-12-31",
    "2030-12-31 ",
    "2030-12-31T23:59:59Z\n",
    "2030-12-31T23:59:59 UTC",
    "2030-12-31T23:59:59 Europe/Berlin",
    "Sun, 06 Nov 2030 08:49:37 GMT",
    "'; DROP TABLE links_link; --",
]


def test_an_invalid_date_is_refused(api: APIClient) -> None:
    for text in NO_DATES:
        response = refused(api, {"originalUrl": URL, "expiresAt": text}, 400)
        assert broken_rules(response) == [("expiresAt", "invalid")]


def test_an_expiry_in_the_past_creates_an_expired_link(
    make_link: Callable[..., Any], visitor: Client
) -> None:
    link = make_link(expiresAt="2001-01-01T00:00:00Z")
    assert link["isActive"] is True
    assert visitor.get("/" + link["shortCode"]).status_code == 410


# Text and addresses, verbatim


VERBATIM = [
    "\N{GRINNING FACE} \N{REGIONAL INDICATOR SYMBOL LETTER D}\N{REGIONAL INDICATOR SYMBOL LETTER E}",
    FAMILY,
    "\u202eright to left\u202c \u2066isolated\u2069 \u05e9\u05dc\u05d5\u05dd",
    "zero\u200bwidth\ufeff\u2060\u200d",
    "Z\u0351\u036b\u0343a\u0300\u0301l\u0302\u0303g\u0304o\u0305",
    "e\u0301 is not \u00e9",
    "\ufffd \ufffe \uffff \U0010ffff",
    "  leading, trailing and\ttabbed \r\n lines  ",
    "\u2028line\u2029paragraph\u0085next",
    "\x01\x1b[31mred\x7f",
    "'; DROP TABLE links_link; --",
    "1' OR '1'='1",
    "%s %(owner)s %% %n $1 {0} {owner} ${jndi:ldap://x} #{7*7}",
    "{{ 7*7 }} {% debug %} <%= 7*7 %>",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "\"quoted\" 'single' `back` \\slashed\\ /",
    "=cmd|'/c calc'!A0",
    "null",
    "\\u0000 \\x00 \\N",
    "{} [] , {a,b} NULL",
    "\u0130\u0131\u017f\u00df\ufb01",
    "\u6f22\u5b57 \ud55c\uad6d\uc5b4 \u0939\u093f\u0928\u094d\u0926\u0940",
]


def test_text_is_kept_and_returned_byte_for_byte(api: APIClient) -> None:
    for text in VERBATIM:
        body = {
            "title": text,
            "description": text,
            "tags": [text[:50], "other"],
            "utm": dict.fromkeys(UTM_KEYS, text),
        }
        response = api.post("/api/urls", {"originalUrl": URL, **body})
        assert response.status_code == 201, response.content
        created = response.json()["data"]["url"]
        assert (created["title"], created["tags"]) == (text, [text[:50], "other"])
        read = whole(api, created)
        assert {name: read[name] for name in body} == body
        listed = api.get("/api/urls").json()["data"]["urls"][0]
        assert listed["title"] == text
        row = Link.objects.get(public_id=read["_id"])
        assert (row.title, row.description, row.tags) == (text, text, [text[:50], "other"])


def test_equal_tags_are_kept_as_they_were_sent(api: APIClient, make_link: Callable[..., Any]) -> None:
    assert whole(api, make_link(tags=["a", "A", "a"]))["tags"] == ["a", "A", "a"]


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://EXAMPLE.com:443/A/../b?Q=1#F", "https://example.com/b?Q=1#F"),
        ("  https://example.com/  ", "https://example.com/"),
        (
            "http://B\u00fccher.example/\u00fc?\u00fc#\u00fc",
            "http://xn--bcher-kva.example/%C3%BC?%C3%BC#%C3%BC",
        ),
        ("http://\uff27\uff4f.com/", "http://go.com/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[::FFFF:1]:8080/x", "http://[::ffff:1]:8080/x"),
        ("https://example.com/a b", "https://example.com/a%20b"),
        ("https://example.com/%7euser/%2F?a=b&&c=%20+", "https://example.com/%7euser/%2F?a=b&&c=%20+"),
        ("https://example.com/?next=http://sho.rt/abc", "https://example.com/?next=http://sho.rt/abc"),
        ("https://example.com/\N{GRINNING FACE}", "https://example.com/%F0%9F%98%80"),
    ],
)
def test_an_address_is_returned_as_written_and_followed_as_a_browser_writes_it(
    api: APIClient, make_link: Callable[..., Any], visitor: Client, written: str, sent: str
) -> None:
    link = make_link(written)
    assert link["originalUrl"] == written
    assert whole(api, link)["originalUrl"] == written
    assert api.get("/api/urls").json()["data"]["urls"][0]["originalUrl"] == written
    assert visitor.get("/" + link["shortCode"])["Location"] == sent


NO_ADDRESSES = [
    ("example.com", "invalid_url"),
    ("//example.com/", "invalid_url"),
    ("https:example.com", "invalid_url"),
    ("https:///example.com", "invalid_url"),
    ("http://", "invalid_url"),
    ("http://a b.com/", "invalid_url"),
    ("http://[::1", "invalid_url"),
    ("http://256.256.256.256/", "invalid_url"),
    ("http://example.com:99999/", "invalid_url"),
    ("http://example.com:0/", "port"),
    ("ftp://example.com/", "unsupported_scheme"),
    ("javascript:alert(1)", "unsupported_scheme"),
    ("data:text/html,x", "unsupported_scheme"),
    ("file:///etc/passwd", "unsupported_scheme"),
    ("http://user@example.com/", "userinfo"),
    ("http://user:pass@example.com/", "userinfo"),
    ("http://example.com\\@evil.example/", "backslash"),
    ("http://exam\tple.com/", "control_character"),
    ("http://example.com/\r\nSet-Cookie: a=b", "control_character"),
]


def test_an_invalid_url_is_refused(api: APIClient) -> None:
    for address, code in NO_ADDRESSES:
        assert broken_rules(refused(api, {"originalUrl": address}, 400)) == [("originalUrl", code)]


# Loops


OUR_ADDRESS = [
    "http://sho.rt",
    "http://sho.rt/",
    "https://sho.rt/abc",
    "HTTP://SHO.RT/abc",
    "http://Sho.Rt/abc",
    "http://sho.rt:80/abc",
    "https://sho.rt:443/abc",
    "http://sho.rt:443/abc",
    "http://sho.rt:00080/abc",
    "http://sho.rt:/abc",
    "http://sho.rt./abc",
    "  http://sho.rt/abc  ",
    "http://sho.rt?x",
    "http://sho.rt#x",
    "http://\uff33\uff28\uff2f.\uff32\uff34/abc",
    "http://sho\u3002rt/abc",
    "http://sho%2Ert/abc",
    "http://s%68o.rt/abc",
    "http://sh\u00ado.rt/abc",
    "http://sh\u200bo.rt/abc",
    "http://sho.rt/a/../abc",
]


def test_our_own_address_is_refused_in_every_spelling(api: APIClient) -> None:
    for address in OUR_ADDRESS:
        response = refused(api, {"originalUrl": address, "customCode": "around"}, 400)
        assert broken_rules(response) == [("originalUrl", "loop")]


NOT_OUR_ADDRESS = [
    "http://notsho.rt/",
    "http://www.sho.rt/",
    "http://sho.rt.example/",
    "http://example.com/sho.rt",
    "http://sho.rtx/",
    "http://s-ho.rt/",
]


def test_an_address_that_only_resembles_ours_is_accepted(make_link: Callable[..., Any]) -> None:
    assert [make_link(address)["originalUrl"] for address in NOT_OUR_ADDRESS] == NOT_OUR_ADDRESS


@pytest.mark.parametrize("subject", ["alice", "stranger"])
def test_any_accounts_active_domain_is_a_loop(
    request: pytest.FixtureRequest, api: APIClient, subject: str
) -> None:
    owner = request.getfixturevalue(subject).workspace
    Domain.objects.create(
        owner=owner, domain="brand.example", subdomain="go", host="go.brand.example", status="active"
    )
    for address in (
        "https://go.brand.example",
        "http://go.brand.example/abc",
        "https://GO.Brand.Example./abc",
        "https://go.brand.example:8443/abc",
        "https://go%2Ebrand.example/abc",
    ):
        response = refused(api, {"originalUrl": address, "customCode": "around"}, 400)
        assert broken_rules(response) == [("originalUrl", "loop")]


def test_an_active_domain_of_another_script_is_a_loop(api: APIClient, stranger: NewAccount) -> None:
    Domain.objects.create(
        owner=stranger.workspace,
        domain="xn--bcher-kva.example",
        host="xn--bcher-kva.example",
        status="active",
    )
    for address in (
        "https://B\u00fccher.example/",
        "https://bu\u0308cher.example/",
        "https://XN--BCHER-KVA.example/",
    ):
        assert broken_rules(refused(api, {"originalUrl": address}, 400)) == [("originalUrl", "loop")]


def test_an_unverified_domain_is_not_a_loop(make_link: Callable[..., Any], stranger: NewAccount) -> None:
    Domain.objects.create(
        owner=stranger.workspace, domain="brand.example", host="brand.example", status="pending"
    )
    assert make_link("https://brand.example/")["originalUrl"] == "https://brand.example/"


# Custom codes


@pytest.mark.parametrize(
    "code", ["abc", "ABC", "a1B", "000", "123456", "a" * 50, "Z" * 50, "appstore", "apix"]
)
def test_a_custom_code_of_3_to_50_letters_and_digits_is_kept(
    api: APIClient, make_link: Callable[..., Any], code: str
) -> None:
    link = make_link(customCode=code)
    assert (link["customCode"], link["shortUrl"]) == (code, f"http://sho.rt/{code}")
    assert link["shortCode"] != code
    assert whole(api, link)["customCode"] == code


NO_CODES = [
    "a", "ab", "a-b", "a_b", "a.b", "a/b", "../", "a%20", "a+b", "a?b", "a#b", "abc.", "'or1=1", "<b>bold",
    "{{a}}", "\uff41\uff42\uff43", "\u0430bc", "caf\u00e9", "\u0661\u0662\u0663",
    "\U0001d552\U0001d553\U0001d554", "\U0001f600\U0001f600\U0001f600", "abc\u200b", "abc\u0301",
    "\u202ecba",
]  # fmt: skip
NO_CODES += ["a" * 51, "a" * 1000, "   ", "abc\n", "\nabc", "abc\r\n", "a\tb", "a b c", " abc", "abc "]


def test_a_malformed_custom_code_is_refused(api: APIClient) -> None:
    for code in NO_CODES:
        response = refused(api, {"originalUrl": URL, "customCode": code}, 400)
        assert broken_rules(response) == [("customCode", "code")]


def test_an_empty_custom_code_is_refused(api: APIClient) -> None:
    assert broken_rules(refused(api, {"originalUrl": URL, "customCode": ""}, 400)) == [
        ("customCode", "blank")
    ]


def test_codes_are_case_sensitive(make_link: Callable[..., Any], visitor: Client) -> None:
    for code in ("Abc", "abc", "ABC"):
        make_link(f"https://example.com/{code}", customCode=code)
    for code in ("Abc", "abc", "ABC"):
        assert visitor.get(f"/{code}")["Location"] == f"https://example.com/{code}"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("taker", ["api", "strange_api"])
def test_a_taken_code_is_refused(
    request: pytest.FixtureRequest, make_link: Callable[..., Any], taker: str, visitor: Client
) -> None:
    make_link(URL, customCode="taken")
    response = refused(
        request.getfixturevalue(taker), {"originalUrl": "https://evil.example/", "customCode": "taken"}, 409
    )
    assert response.json() == {
        "success": False,
        "message": "The code taken is already in use.",
        "code": "code_taken",
    }
    assert visitor.get("/taken")["Location"] == URL


def test_reserved_words_are_refused_in_any_case() -> None:
    words = sorted(word for word in RESERVED if is_code(word))
    assert len(words) > 50
    for word in words:
        for code in {word, word.upper(), word.title()}:
            with pytest.raises(Conflict) as refusal:
                refuse_reserved(code)
            assert (refusal.value.message, refusal.value.code) == (
                f"The code {code} is reserved.",
                "code_reserved",
            )


@pytest.mark.parametrize("code", ["login", "LOGIN", "Login"])
def test_reserved_word_is_refused_with_409(api: APIClient, code: str) -> None:
    response = refused(api, {"originalUrl": URL, "customCode": code}, 409)
    assert response.json() == {
        "success": False,
        "message": f"The code {code} is reserved.",
        "code": "code_reserved",
    }


def test_every_first_path_segment_of_the_service_is_reserved(api: APIClient) -> None:
    segments = {re.split(r"[/.<]", str(pattern.pattern))[0] for pattern in get_resolver().url_patterns}
    codes = sorted(segment for segment in segments if is_code(segment))
    assert {"admin", "api", "healthz", "readyz", "robots"} <= set(codes)
    assert all(is_route(segment) for segment in segments if segment)
    for code in codes:
        assert refused(api, {"originalUrl": URL, "customCode": code}, 409).json()["code"] == "code_reserved"


def test_a_code_reserved_later_keeps_working(
    api: APIClient, make_link: Callable[..., Any], visitor: Client, settings: Settings
) -> None:
    link = make_link(URL, customCode="Acme")
    settings.RESERVED_CODES = frozenset({"acme"})
    assert refused(api, {"originalUrl": URL, "customCode": "acme"}, 409).json()["code"] == "code_reserved"
    assert visitor.get("/Acme")["Location"] == URL
    # A client may send the whole link back.
    path = f"/api/urls/{link['_id']}"
    assert api.put(path, {**whole(api, link), "title": "kept"}).status_code == 200
    body = {"urls": [{"_id": link["_id"], "customCode": "Acme", "title": "again"}]}
    assert api.post("/api/urls/bulk-update", body).json()["data"]["succeeded"] == 1
    assert whole(api, link)["customCode"] == "Acme"
    assert visitor.get("/Acme")["Location"] == URL


def test_field_errors_precede_a_reserved_code(api: APIClient) -> None:
    response = refused(api, {"originalUrl": URL, "customCode": "admin", "title": 5}, 400)
    assert broken_rules(response) == [("title", "invalid")]


# Passwords


@pytest.mark.parametrize("password", ["x", "x" * 128, " ", "\N{GRINNING FACE}" * 128, "p\u00e4ss w\u00f6rd"])
@pytest.mark.usual_passwords
def test_a_password_is_kept_as_an_argon2_hash_alone(
    api: APIClient, make_link: Callable[..., Any], password: str
) -> None:
    link = make_link(password=password)
    hashed = Link.objects.get(public_id=link["_id"]).password
    assert hashed is not None
    assert hashed.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert check_password(password, hashed)
    assert not check_password(password + "x", hashed)
    assert whole(api, link)["hasPassword"] is True


def test_a_password_is_never_returned_nor_stored_in_plain(api: APIClient, visitor: Client) -> None:
    secret = "Tr0ub4dor-and-3"
    created = api.post("/api/urls", {"originalUrl": URL, "password": secret, "title": "t"})
    link = created.json()["data"]["url"]
    hashed = Link.objects.get(public_id=link["_id"]).password or ""
    responses = [
        created,
        api.get(f"/api/urls/{link['_id']}"),
        api.put(f"/api/urls/{link['_id']}", {"title": "u", "password": secret}),
        api.get("/api/urls"),
        api.get("/api/urls/stats"),
        visitor.get("/" + link["shortCode"]),
        visitor.get("/" + link["shortCode"], headers={"accept": "application/json"}),
    ]
    assert [response.status_code for response in responses] == [201, 200, 200, 200, 200, 401, 401]
    for response in responses:
        for revealing in (secret, "argon2", hashed.rpartition("$")[2]):
            assert revealing.encode() not in response.content
        if response["Content-Type"] == "application/json":
            assert '"password":' not in json.dumps(response.json())
    with connection.cursor() as cursor:
        cursor.execute("SELECT l::text FROM links_link l")
        assert secret not in str(cursor.fetchall())


@pytest.mark.parametrize("secret", ["Tr0ub4dor-and-3" * 9, ["Tr0ub4dor-and-3"], {"Tr0ub4dor-and-3": 1}])
def test_a_refused_password_is_not_echoed(api: APIClient, secret: object) -> None:
    response = refused(api, {"originalUrl": URL, "password": secret}, 400)
    assert b"Tr0ub4dor" not in response.content


# The body must be a JSON object


@pytest.mark.parametrize(
    "body", ["", "null", "[]", '"text"', "5", "{", '{"originalUrl": "https://a.example/",}']
)
def test_a_body_that_is_not_an_object_creates_nothing(api: APIClient, body: str) -> None:
    before = everything_written()
    response = api.post("/api/urls", body, content_type="application/json")
    assert response.status_code == 400
    assert response.json()["success"] is False
    assert everything_written() == before


@pytest.mark.parametrize("broken", ["\\u0000", "\\ud800", "\\udc00x"])
def test_nul_and_lone_surrogates_are_refused_in_every_text(api: APIClient, broken: str) -> None:
    before = everything_written()
    for field in (
        "originalUrl",
        "customCode",
        "title",
        "description",
        "password",
        "domainId",
        "tags.0",
        "utm.term",
    ):
        body = json.dumps({"originalUrl": URL, **at(field, "BROKEN")}).replace("BROKEN", f"a{broken}b")
        response = api.post("/api/urls", body, content_type="application/json")
        assert response.status_code == 400, field
        assert response.json()["code"] == "invalid_json"
    assert everything_written() == before


@pytest.mark.parametrize("path", ["/api/urls", "/api/urls/bulk", "/api/urls/import"])
def test_a_url_is_parsed_once(api: APIClient, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    # The first request loads the description of the API, which parses examples.
    assert api.get("/api/urls").status_code == 200
    parsed, parser = [], destination_url.URL

    def parse(text: str) -> Any:
        parsed.append(text)
        return parser(text)

    monkeypatch.setattr(destination_url, "URL", parse)
    item = {"originalUrl": "https://example.com/once"}
    bodies = {
        "/api/urls": item,
        "/api/urls/bulk": {"urls": [item]},
        "/api/urls/import": {"content": "originalUrl\nhttps://example.com/once\n"},
    }

    assert api.post(path, bodies[path]).status_code in (200, 201)
    assert parsed == ["https://example.com/once"]
