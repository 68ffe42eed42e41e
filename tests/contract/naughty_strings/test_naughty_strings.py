"""Strings that have broken programs before, in every field, parameter and path: stored unchanged, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from rest_framework.test import APIClient

from tests.contract.naughty_strings.naughty import NAUGHTY
from tests.contract.naughty_strings.naughty_calls import STORED, URL, MakeLink, in_address, send
from tests.contract.naughty_strings.naughty_calls import quick_hashes as quick_hashes

# A taken code makes a statement fail, after which the request continues.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_there_are_enough_cases() -> None:
    assert len(NAUGHTY) >= 400


def checked_body(response: HttpResponse, about: str) -> Any:
    """The body of a success or of a validation error in the envelope."""
    assert response.status_code < 500, ascii(about)
    body = response.json()
    assert body["success"] is (response.status_code < 400), ascii(about)
    assert response.status_code < 400 or (body["message"] and body["code"]), ascii(about)
    return body


def test_stored_text_comes_back_equal_and_other_text_is_refused(api: APIClient) -> None:
    for text in NAUGHTY:
        good = {name: make(text) for name, (make, is_good) in STORED.items() if is_good(text)}
        bad = {name: make(text) for name, (make, _) in STORED.items() if name not in good}
        created = checked_body(send(api, "POST", "/api/urls", {"originalUrl": URL, **good}), text)["data"][
            "url"
        ]
        path = f"/api/urls/{created['_id']}"
        read = api.get(path).json()["data"]["url"]
        assert read["hasPassword"] is (good.pop("password", None) is not None)
        assert {name: read[name] for name in good} == good, ascii(text)
        assert send(api, "PUT", path, good).status_code == 200
        assert {name: api.get(path).json()["data"]["url"][name] for name in good} == good
        for name, value in bad.items():
            for response in (
                send(api, "POST", "/api/urls", {"originalUrl": URL, name: value}),
                send(api, "PUT", path, {name: value}),
            ):
                assert checked_body(response, text)["code"] in ("validation_error", "invalid_json"), ascii(
                    (name, text)
                )
                assert response.status_code == 400


Body = Callable[[str], dict[str, Any]]
LINK_FIELDS: dict[str, Body] = {
    "originalUrl": lambda text: {"originalUrl": text},
    "a host": lambda text: {"originalUrl": f"https://{text}.example.com/"},
    "a path": lambda text: {"originalUrl": f"{URL}{text}"},
    "a query": lambda text: {"originalUrl": f"{URL}?{text}#{text}"},
    "customCode": lambda text: {"originalUrl": URL, "customCode": text},
    "domainId": lambda text: {"originalUrl": URL, "domainId": text},
    "expiresAt": lambda text: {"originalUrl": URL, "expiresAt": text},
    "all the rest": lambda text: {
        "originalUrl": URL,
        "redirectType": text,
        "restrictions": {
            "maxClicks": text,
            "allowedCountries": [text],
            "blockedCountries": [text],
            "allowedDevices": [text],
        },
    },
    "keys": lambda text: {"originalUrl": URL, text: text, "utm": {text: text}, "restrictions": {text: 1}},
    "objects": lambda text: {
        name: {text: [text]} for name in ("originalUrl", "title", "tags", "utm", "restrictions")
    },
}


@pytest.mark.parametrize("field", LINK_FIELDS)
def test_no_field_of_a_link_causes_a_server_error(api: APIClient, make_link: MakeLink, field: str) -> None:
    path = f"/api/urls/{make_link()['_id']}"
    for text in NAUGHTY:
        created = checked_body(send(api, "POST", "/api/urls", LINK_FIELDS[field](text)), text)
        if created["success"]:
            assert api.get(f"/api/urls/{created['data']['url']['_id']}").status_code == 200
        body = {**LINK_FIELDS[field](text), "shortCode": text, "isActive": text}
        checked_body(send(api, "PUT", path, body), text)


OTHER_FIELDS: dict[str, tuple[str, str, Body]] = {
    "login": ("POST", "/api/auth/login", lambda text: {"email": text, "password": text}),
    "refresh": ("POST", "/api/auth/refresh", lambda text: {"refreshToken": text}),
    "domain": ("POST", "/api/domains", lambda text: {"domain": text}),
    "subdomain": ("POST", "/api/domains", lambda text: {"domain": "example.com", "subdomain": text}),
    "settings": (
        "PATCH",
        "/api/domains/{domain}",
        lambda text: dict.fromkeys(("rootUrl", "notFoundUrl", "expiredUrl"), URL + text),
    ),
    "urlId": ("POST", "/api/qr-codes", lambda text: {"urlId": text}),
    "design": (
        "POST",
        "/api/qr-codes",
        lambda text: dict.fromkeys(
            ("foregroundColor", "backgroundColor", "logo", "style", "format", "errorCorrectionLevel", "size"),
            text,
        ),
    ),
}


@pytest.mark.parametrize("field", OTHER_FIELDS)
def test_no_other_field_causes_a_server_error(api: APIClient, field: str) -> None:
    method, path, body = OTHER_FIELDS[field]
    domain = api.post("/api/domains", {"domain": "naughty.example.org"}).json()["data"]["domain"]["_id"]
    for text in NAUGHTY:
        checked_body(send(api, method, path.format(domain=domain), body(text)), text)


# Several at once where each is checked separately.
PARAMETERS = {
    "/api/urls": [["search"], ["tags"], ["page", "limit", "isActive", "sortBy", "sortOrder", "unknown"]],
    "/api/qr-codes": [["urlId"], ["page", "limit"]],
    "/api/analytics": [
        ["period", "country", "device", "channel", "branch", "kind", "creator", "urlIds", "tagsMode"],
        ["city", "tags", "utmSource"],
        ["referrer", "browser", "os", "excludeTags"],
    ],
    "/api/analytics/{link}": [
        ["startDate", "endDate"],
        ["timezone", "interval", "limit"],
        ["city", "utmTerm"],
    ],
    "/api/analytics/{link}/devices": [["startDate", "endDate", "timezone", "limit"]],
    "/api/analytics/{link}/geographic": [["startDate", "endDate", "timezone", "limit"]],
    "/api/analytics/{link}/clicks": [
        ["cursor"],
        ["startDate", "endDate", "timezone", "kind", "limit"],
        ["browser"],
    ],
    "/api/analytics/clicks": [
        ["cursor"],
        ["format"],
        ["manifest"],
        ["referrer", "city", "tags"],
        ["country"],
    ],
    "/api/domains/{domain}/analytics": [["startDate", "endDate"]],
}


@pytest.mark.parametrize("path", PARAMETERS)
def test_no_parameter_causes_a_server_error(api: APIClient, make_link: MakeLink, path: str) -> None:
    domain = api.post("/api/domains", {"domain": "example.com"}).json()["data"]["domain"]["_id"]
    address = path.format(link=make_link(title="a", tags=["a"])["_id"], domain=domain)
    for text in NAUGHTY:
        for names in PARAMETERS[path]:
            query = "&".join(f"{name}={in_address(text)}" for name in names)
            checked_body(api.get(f"{address}?{query}"), text)


PATHS = [
    "/api/{}", "/api/urls/{}", "/api/domains/{}", "/api/domains/{}/analytics", "/api/analytics/{}",
    "/api/analytics/{}/clicks", "/api/analytics/{}/devices", "/api/qr-codes/{}", "/qr/{}.png",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_no_path_of_the_api_causes_a_server_error(api: APIClient, path: str) -> None:
    for text in NAUGHTY:
        response = api.get(path.format(in_address(text)))
        if path.startswith("/api"):
            checked_body(response, text)
        assert response.status_code in (200, 400, 404, 405), ascii(text)
