"""``/{code}/`` is ``/{code}``, in both lanes. The service's own paths stay what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from links.codes import ROUTES
from redirects import refusals
from testing.analytics.clicks import drain
from testing.cases import for_each
from testing.clock import Clock
from testing.pages.html import assert_page, parse
from testing.redirects.following import CUSTOM_HOST, DESTINATION, custom_domain, redirect_headers
from testing.redirects.visits import request, visit

MakeLink = Callable[..., dict[str, Any]]

# The routes that are a page on the service's own host. Two of them lead to the login.
PAGES = {"accounts": b" 302 ", "api": b" 200 ", "admin": b" 302 ", "dashboard": b" 200 "}


@pytest.mark.parametrize("host", ["sho.rt", CUSTOM_HOST])
@pytest.mark.parametrize("redirect_type", [301, 302])
def test_a_slash_after_the_code_changes_nothing(
    visitor: Client, alice: NewAccount, make_link: MakeLink, host: str, redirect_type: int
) -> None:
    domain = custom_domain(alice)
    link = make_link(
        customCode="spring",
        redirectType=redirect_type,
        domainId="base" if host == "sho.rt" else str(domain.public_id),
    )

    for code in (link["shortCode"], "spring"):
        for method in (visitor.get, visitor.head):
            plain, slashed = (method(path, headers={"host": host}) for path in (f"/{code}", f"/{code}/"))
            assert (slashed.status_code, dict(slashed.headers)) == (redirect_type, dict(plain.headers))
            assert slashed["Location"] == DESTINATION


def test_each_visit_counts_once(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    for path in ("/", "", "/?qr=1"):
        visitor.get(f"/{link['shortCode']}{path}")
    visitor.head(f"/{link['shortCode']}/")

    drain()

    assert api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["clickCount"] == 3


@pytest.mark.django_db
@for_each("query", ["", "?qr=1", "?", "?/", "?a=/"])
@for_each("host", ["sho.rt", CUSTOM_HOST])
@for_each("method", ["GET", "HEAD"])
@pytest.mark.slow
def test_both_lanes_serve_it_alike(
    alice: NewAccount, make_link: MakeLink, method: str, host: str, query: str
) -> None:
    domain = custom_domain(alice)
    link = make_link(domainId="base" if host == "sho.rt" else str(domain.public_id))
    plain, slashed = (
        request(f"/{link['shortCode']}{slash}{query}", {"Host": host}, method) for slash in ("", "/")
    )

    outcome = visit(slashed, in_lane=True)

    assert outcome == visit(plain, in_lane=True)
    assert b" 302 " in outcome.response


@pytest.mark.parametrize("suffix", ["//", "/x", "/+", "+/", "/.", "/;", "/%2f"])
def test_anything_else_after_the_slash_is_no_code(make_link: MakeLink, suffix: str) -> None:
    data = request(f"/{make_link()['shortCode']}{suffix}")

    assert b" 302 " not in visit(data, in_lane=False).response.split(b"\r\n")[0]


def test_a_preview_has_no_form_with_a_slash(visitor: Client, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]

    assert visitor.get(f"/{code}+").status_code == 200
    for path in (f"/{code}+/", f"/{code}/+"):
        assert_page(visitor.get(path), title="Link not found", message=refusals.NOT_FOUND.message)


@pytest.mark.django_db
@for_each("host", ["sho.rt", CUSTOM_HOST, "10.1.2.3"])
@for_each("word", sorted(ROUTES))
@pytest.mark.slow
def test_the_services_own_paths_with_a_slash_are_no_codes(alice: NewAccount, word: str, host: str) -> None:
    """They are neither looked up as links nor counted as unknown codes. Only those in `PAGES` are pages."""
    custom_domain(alice)
    data = request(f"/{word}/", {"Host": host})

    response = visit(data, in_lane=False)
    status = b" 404 " if host == CUSTOM_HOST else PAGES.get(word, b" 404 ")
    assert status in response.response.split(b"\r\n")[0]
    assert response.records == []


def test_unknown_codes_with_a_slash_are_limited_like_others(
    visitor: Client, settings: Any, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.UNKNOWN_CODE_LIMIT = 60
    monkeypatch.setattr("links.guess_counts.monotonic", Clock())
    make_link()

    assert [visitor.get(f"/guess{number}/").status_code for number in range(62)] == [404] * 60 + [429] * 2


def test_the_password_form_with_a_slash_unlocks_the_link_without_one(
    visitor: Client, make_link: MakeLink
) -> None:
    path = f"/{make_link(password='secret')['shortCode']}"
    token = parse(visitor.get(f"{path}/")).value_of("csrfmiddlewaretoken")

    opened = visitor.post(f"{path}/", {"csrfmiddlewaretoken": token, "password": "secret"})

    assert (opened.status_code, opened["Location"]) == (303, path)
    assert {cookie["path"] for name, cookie in opened.cookies.items() if name != "csrftoken"} == {path}
    for followed in (visitor.get(path), visitor.get(f"{path}/")):
        assert dict(followed.headers) == redirect_headers(DESTINATION, "no-store")
