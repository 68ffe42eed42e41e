"""The owner's own words on the pages that visitors of a domain meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.rights import Role
from accounts.services import NewAccount
from bans import services as bans
from domains.models import PAGES, Domain, DomainStatus
from testing.accounts.workspaces import add_member, team, token_client_in
from testing.cases import for_each
from testing.redirects.following import CUSTOM_HOST, FUTURE, PAST, custom_domain
from testing.visitors.addresses import AMERICAN

MakeLink = Callable[..., dict[str, Any]]
WORDS = {"title": "Das war's", "text": "Neue Angebote:\nbrand.example"}
NO_WORDS: dict[str, Any] = dict.fromkeys(PAGES)


@pytest.fixture
def path(domain: Domain) -> str:
    return f"/api/domains/{domain.public_id}"


@pytest.fixture
def domain(alice: NewAccount) -> Domain:
    return custom_domain(alice)


def pages_of(api: APIClient, path: str) -> dict[str, Any]:
    pages: dict[str, Any] = api.get(path).json()["data"]["domain"]["pages"]
    return pages


def read(visitor: Client, path: str, **headers: str) -> tuple[int, str]:
    response = visitor.get(path, REMOTE_ADDR=AMERICAN, headers={"host": CUSTOM_HOST, **headers})
    return response.status_code, response.content.decode()


def test_pages_change_individually_and_null_removes_one(api: APIClient, path: str) -> None:
    assert pages_of(api, path) == NO_WORDS
    response = api.patch(path, {"pages": {"expired": WORDS, "notFound": {"title": "  Nichts hier "}}})
    assert response.status_code == 200
    both = NO_WORDS | {"expired": WORDS, "notFound": {"title": "Nichts hier", "text": None}}
    assert response.json()["data"]["domain"]["pages"] == both
    # Clients may send back the whole object.
    assert api.patch(path, {"pages": both}).json()["data"]["domain"]["pages"] == both
    api.patch(path, {"rootUrl": "https://brand.example/", "pages": {}})
    assert pages_of(api, path) == both
    api.patch(path, {"pages": {"notFound": None, "expired": {"title": None, "text": "Zu spät."}}})
    assert pages_of(api, path) == NO_WORDS | {"expired": {"title": None, "text": "Zu spät."}}
    api.patch(path, {"pages": {"expired": {"title": None}}})
    assert pages_of(api, path) == NO_WORDS
    assert Domain.objects.get().pages == {}


@for_each(
    ("pages", "field", "code"),
    [
        ({"notFound": {"title": "x\u202egpj"}}, "pages.notFound.title", "direction"),
        ({"notFound": {"text": "\u2067x"}}, "pages.notFound.text", "direction"),
        ({"notFound": {"text": "x" * 10_000}}, "pages.notFound.text", "max_length"),
        ({"notFound": {"text": "x" * 501}}, "pages.notFound.text", "max_length"),
        ({"notFound": {"title": "x" * 101}}, "pages.notFound.title", "max_length"),
        ({"notFound": {"title": " \n"}}, "pages.notFound.title", "blank"),
        ({"notFound": {"title": 5}}, "pages.notFound.title", "invalid"),
        ({"notFound": "x"}, "pages.notFound", "invalid"),
        ({"notFound": {"html": "<b>"}}, "pages.notFound.html", "unknown_field"),
        ({"teapot": WORDS}, "pages.teapot", "unknown_field"),
        ([], "pages", "invalid"),
        (None, "pages", "null"),
    ],
)
def test_invalid_words_are_refused_and_change_nothing(
    api: APIClient, path: str, *, pages: Any, field: str, code: str
) -> None:
    response = api.patch(path, {"rootUrl": "https://brand.example/", "pages": pages})
    assert response.status_code == 400
    [error] = response.json()["errors"]
    assert (error["field"], error["code"]) == (field, code)
    assert (pages_of(api, path), Domain.objects.get().root_url) == (NO_WORDS, None)


def test_only_admins_of_the_workspace_change_words(
    alice: NewAccount, stranger: NewAccount, anonymous: APIClient, strange_api: APIClient, path: str
) -> None:
    shared = team(alice)
    Domain.objects.update(owner=shared)
    change = {"pages": {"notFound": WORDS}}
    assert anonymous.patch(path, change).status_code == 401
    assert strange_api.patch(path, change).status_code == 404
    add_member(shared, stranger, Role.EDITOR)
    editor = token_client_in(shared, stranger.user)
    assert editor.patch(path, change).status_code == 403
    assert pages_of(editor, path) == NO_WORDS


def test_the_history_has_the_words(api: APIClient, path: str) -> None:
    api.patch(path, {"pages": {"expired": WORDS}})
    change, *_ = api.get("/api/audit").json()["data"]["changes"]
    assert (change["before"], change["after"]) == ({"pages": {}}, {"pages": {"expired": WORDS}})


RESTRICTED = {
    "notStarted": {"startsAt": FUTURE},
    "expired": {"expiresAt": PAST},
    "disabled": {"isActive": False},
    "country": {"restrictions": {"allowedCountries": ["JP"]}},
    "device": {"restrictions": {"allowedDevices": ["tablet"]}},
    "password": {"password": "secret"},
}


@pytest.mark.parametrize("page", [*RESTRICTED, "notFound", "limitReached"])
def test_visitors_read_the_words_of_the_domain(
    visitor: Client, api: APIClient, make_link: MakeLink, domain: Domain, path: str, page: str
) -> None:
    code = "nothing"
    fields = {"restrictions": {"maxClicks": 1}} if page == "limitReached" else RESTRICTED.get(page)
    if fields is not None:
        is_active = fields.get("isActive", True)
        link = make_link(
            domainId=str(domain.public_id), **{k: v for k, v in fields.items() if k != "isActive"}
        )
        api.put(f"/api/urls/{link['_id']}", {"isActive": is_active})
        code = link["shortCode"]
    if page == "limitReached":
        assert read(visitor, f"/{code}")[0] == 302
    status, before = read(visitor, f"/{code}")
    api.patch(path, {"pages": {page: WORDS}})
    assert read(visitor, f"/{code}")[0] == status
    changed = read(visitor, f"/{code}")[1]
    assert "Das war&#x27;s" not in before
    assert '<h1 lang="" dir="auto">Das war&#x27;s</h1>' in changed
    assert '<p id="message" lang="" dir="auto">Neue Angebote:\nbrand.example</p>' in changed
    assert "<title>Das war&#x27;s</title>" in changed
    # Programs read the service's words, and other hosts know nothing of them.
    assert "Das war" not in read(visitor, f"/{code}", accept="application/json")[1]
    api.patch(path, {"pages": {page: None}})
    assert "Das war" not in read(visitor, f"/{code}")[1]


def test_a_page_without_own_words_stays_in_the_language_of_the_visitor(
    visitor: Client, api: APIClient, path: str
) -> None:
    api.patch(path, {"pages": {"notFound": {"text": "Only the text"}, "expired": WORDS}})
    _, german = read(visitor, "/nothing", accept_language="de")
    assert '<html lang="de">' in german
    assert "<h1>Link nicht gefunden</h1>" in german
    assert '<p id="message" lang="" dir="auto">Only the text</p>' in german


def test_markup_is_text(visitor: Client, api: APIClient, path: str) -> None:
    hostile = "</title><script>alert(1)</script>\"'&{{ refusal }}"
    assert api.patch(path, {"pages": {"notFound": {"title": hostile, "text": hostile}}}).status_code == 200
    escaped = "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#x27;&amp;{{ refusal }}"
    body = read(visitor, "/nothing")[1]
    assert (body.count(escaped), body.count("<script")) == (3, 0)


def test_every_missing_page_of_the_domain_has_its_words(visitor: Client, api: APIClient, path: str) -> None:
    api.patch(path, {"pages": {"notFound": WORDS}})
    for target in ("/", "/nothing", "/nothing+", "/not/a/code"):
        status, body = read(visitor, target)
        assert (status, "Das war&#x27;s" in body) == (404, True)
    assert "Das war" not in visitor.get("/nothing").content.decode()


def test_words_need_an_active_domain(
    visitor: Client, api: APIClient, make_link: MakeLink, domain: Domain, path: str
) -> None:
    link = make_link(domainId=str(domain.public_id))
    api.patch(path, {"pages": {"notFound": WORDS, "disabled": WORDS}})
    Domain.objects.update(status=DomainStatus.INACTIVE)
    for target, expected in ((f"/{link['shortCode']}", 410), ("/nothing", 404), ("/", 404)):
        status, body = read(visitor, target)
        assert (status, "Das war" in body) == (expected, False)


def test_a_banned_link_does_not_speak_for_its_owner(
    visitor: Client, api: APIClient, make_link: MakeLink, domain: Domain, path: str
) -> None:
    link = make_link(domainId=str(domain.public_id))
    api.patch(path, {"pages": {"disabled": WORDS}})
    bans.ban_host(host="example.com")
    status, body = read(visitor, f"/{link['shortCode']}")
    assert (status, "Das war" in body, "This link has been disabled." in body) == (410, False, True)


def test_a_wrong_password_says_so(api: APIClient, make_link: MakeLink, domain: Domain, path: str) -> None:
    link = make_link(domainId=str(domain.public_id), password="secret")
    api.patch(path, {"pages": {"password": WORDS}})
    response = Client().post(f"/{link['shortCode']}", {"password": "wrong"}, headers={"host": CUSTOM_HOST})
    assert '<p id="message" role="alert">That is not the password of this link.' in response.content.decode()
