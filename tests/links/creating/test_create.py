"""New links: their defaults, fields, password and body."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.http import urls
from testing.links.calls import whole
from testing.links.routing_fields import DEFAULTS
from tests.links.creation import URL, UTM_KEYS, at, everything_written

UUID_V7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")


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
                "status": "active",
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
        "health": {"status": "unknown", "checkedAt": None, "problem": None, "failingSince": None},
        "externalId": None,
        "isArchived": False,
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
    parsed, parser = [], urls.URL

    def parse(text: str) -> Any:
        parsed.append(text)
        return parser(text)

    monkeypatch.setattr(urls, "URL", parse)
    item = {"originalUrl": "https://example.com/once"}
    bodies = {
        "/api/urls": item,
        "/api/urls/bulk": {"urls": [item]},
        "/api/urls/import": {"content": "originalUrl\nhttps://example.com/once\n"},
    }

    assert api.post(path, bodies[path]).status_code in (200, 201)
    assert parsed == ["https://example.com/once"]
