"""Strings that have broken programs before, in every field, parameter and path: stored unchanged, or refused."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.http import HttpResponse
from django.test import Client
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient
from selectolax.lexbor import LexborHTMLParser

from accounts.services import NewAccount, create_account
from links.models import Link
from testing.accounts.accounts import PASSWORD
from tests.contract.naughty import NAUGHTY

MakeLink = Callable[..., dict[str, Any]]

URL = "https://example.com/"
UTM = ("source", "medium", "campaign", "term", "content")

# A taken code makes a statement fail, after which the request continues.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def quick_hashes(settings: Settings) -> None:
    """Hundreds of passwords are stored here."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def test_there_are_enough_cases() -> None:
    assert len(NAUGHTY) >= 400


def is_text(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def fits(text: str, most: int) -> bool:
    return is_text(text) and len(unicodedata.normalize("NFC", text)) <= most


def in_address(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def send(client: APIClient, method: str, path: str, body: Any) -> HttpResponse:
    """Escapes the body: a lone surrogate can only be sent escaped."""
    return client.generic(method, path, json.dumps(body), "application/json")


def checked_body(response: HttpResponse, about: str) -> Any:
    """The body of a success or of a validation error in the envelope."""
    assert response.status_code < 500, ascii(about)
    body = response.json()
    assert body["success"] is (response.status_code < 400), ascii(about)
    assert response.status_code < 400 or (body["message"] and body["code"]), ascii(about)
    return body


STORED: dict[str, tuple[Callable[[str], Any], Callable[[str], bool]]] = {
    "title": (lambda text: text, lambda text: fits(text, 200)),
    "description": (lambda text: text, lambda text: fits(text, 500)),
    "tags": (lambda text: [text], lambda text: fits(text, 50) and bool(text.strip())),
    "utm": (lambda text: dict.fromkeys(UTM, text), lambda text: fits(text, 200)),
    "password": (lambda text: text, lambda text: is_text(text) and 1 <= len(text) <= 128),
}


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
    "/api/analytics/{link}": [["startDate", "endDate"], ["timezone", "interval", "limit"]],
    "/api/analytics/{link}/devices": [["startDate", "endDate", "timezone", "limit"]],
    "/api/analytics/{link}/geographic": [["startDate", "endDate", "timezone", "limit"]],
    "/api/analytics/{link}/clicks": [["cursor"], ["startDate", "endDate", "timezone", "kind", "limit"]],
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


def elements(response: HttpResponse) -> Counter[tuple[str, tuple[str, ...]]]:
    """The elements of a page as a browser builds it: how often each occurs with its attributes."""
    tree = LexborHTMLParser(response.content)
    counts = Counter((node.tag, tuple(sorted(node.attributes))) for node in tree.css("*"))
    # Blocks of text may be displayed with their line breaks.
    return Counter({kind: number for kind, number in counts.items() if kind != ("br", ())})


def test_the_404_page_does_not_depend_on_the_path(visitor: Client) -> None:
    plain = elements(visitor.get("/plain"))
    for text in NAUGHTY:
        for path in (f"/{in_address(text)}", f"/{in_address(text)}+", f"/plain?{in_address(text)}"):
            page = visitor.get(path)
            assert page.status_code < 500, ascii(text)
            if page.status_code == 404 and page["Content-Type"].startswith("text/html"):
                assert elements(page) == plain, ascii(text)


def test_no_string_adds_an_element_to_a_page_of_a_link(
    visitor: Client, make_link: MakeLink, api: APIClient
) -> None:
    def pages(text: str) -> list[Counter[tuple[str, tuple[str, ...]]]] | None:
        fields = {name: make(text) for name, (make, is_good) in STORED.items() if is_good(text)}
        fields |= {"originalUrl": f"{URL}?{text}#{text}"}
        created = send(api, "POST", "/api/urls", {**fields, "password": "secret"})
        if created.status_code != 201:
            return None
        link = created.json()["data"]["url"]
        locked = visitor.get(f"/{link['shortCode']}")
        api.put(f"/api/urls/{link['_id']}", {"password": None})
        shown = visitor.get(f"/{link['shortCode']}+")
        api.put(f"/api/urls/{link['_id']}", {"isActive": False})
        over = visitor.get(f"/{link['shortCode']}")
        assert [locked.status_code, shown.status_code, over.status_code] == [401, 200, 410], ascii(text)
        return [elements(response) for response in (locked, shown, over)]

    plain = pages("plain")
    tried = [page for text in NAUGHTY if (page := pages(text)) is not None]
    assert len(tried) > 300
    assert tried == [plain] * len(tried)


@pytest.fixture
def operator(db: None) -> Client:
    user = create_account(email="operator@example.com", password=PASSWORD, superuser=True).user
    client = Client(headers={"host": "sho.rt"})
    client.force_login(user)
    return client


def test_no_string_adds_an_element_to_a_page_of_the_admin(
    operator: Client, make_link: MakeLink, alice: NewAccount
) -> None:
    link = Link.objects.get(public_id=make_link(title="plain")["_id"])
    alone = elements(operator.get("/admin/links/link/?q=plain"))
    allowed = alone | elements(operator.get("/admin/links/link/"))
    page = f"/admin/links/link/{link.pk}/change/"
    plain = elements(operator.get(page))
    for text in NAUGHTY:
        if re.search("""[<>&"'`\0\ud800-\udfff]""", text):
            response = operator.get(f"/admin/links/link/?q={in_address(text)}", follow=True)
            assert response.status_code == 200, ascii(text)
            assert not is_text(text) or set(elements(response)) <= set(allowed), ascii(text)
        if fits(text, 200) and text.strip():
            Link.objects.filter(pk=link.pk).update(title=text)
            assert elements(operator.get(page)) == plain, ascii(text)
