"""``/{code}+``: the preview of a link's destination."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain, DomainStatus
from pages.refusals import Refusal
from redirects import refusals
from testing.analytics.clicks import drain
from testing.pages.html import assert_json_refusal, assert_page, parse

MakeLink = Callable[..., dict[str, Any]]
JSON = {"accept": "application/json"}
DESTINATION = "https://example.com/page"


def counts(api: APIClient, link: dict[str, Any]) -> tuple[int, Any, Any]:
    drain()
    report = api.get(f"/api/analytics/{link['_id']}").json()["data"]
    return report["totalClicks"], report["refused"], report["notCounted"]


def test_the_page_shows_the_destination_as_it_is_sent(visitor: Client, make_link: MakeLink) -> None:
    """ASVS 3.7.3, on request."""
    link = make_link("https://example.com/page?a=1#end", utm={"source": "mail"})
    response = visitor.get(f"/{link['shortCode']}+")

    page = parse(response)
    assert response.status_code == 200
    assert page.texts["code"] == "https://example.com/page?a=1&utm_source=mail#end"
    assert page.texts["code"] == visitor.get(f"/{link['shortCode']}")["Location"]
    assert page.texts["strong"] == "example.com"
    [follow] = page.all("a")
    assert follow == {"class": "button", "href": f"/{link['shortCode']}", "rel": "nofollow"}
    assert {tag for tag, _ in page.elements} & {"script", "img", "iframe", "link", "form"} == set()
    assert response["Cache-Control"] == "no-store"
    assert response["X-Robots-Tag"] == "noindex"
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]


def test_programs_get_json(visitor: Client, make_link: MakeLink) -> None:
    response = visitor.get(f"/{make_link(DESTINATION)['shortCode']}+", headers=JSON)

    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    assert response.json() == {"success": True, "destination": DESTINATION}
    assert response["Cache-Control"] == "no-store"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Robots-Tag"] == "noindex"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("https://\u0430pple.com/", "xn--pple-43d.com"),
        ("https://\u0440\u0430\u0443\u0440\u0430l.com/login", "xn--l-7sba6dbr.com"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("https://\uff47\uff4fogle.com/", "google.com"),
        ("https://example.com:8443/", "example.com:8443"),
    ],
)
def test_homograph_hosts_are_shown_in_ascii(
    visitor: Client, make_link: MakeLink, written: str, shown: str
) -> None:
    page = parse(visitor.get(f"/{make_link(written)['shortCode']}+"))

    assert page.texts["strong"] == shown == urlsplit(page.texts["code"]).netloc
    assert page.texts["code"].isascii()


@pytest.mark.parametrize("restrictions", [{"maxClicks": 5}, {"maxClicksPerVisitor": 5}])
def test_the_destination_of_a_capped_link_is_not_shown(
    visitor: Client, make_link: MakeLink, restrictions: dict[str, int]
) -> None:
    code = make_link(DESTINATION, restrictions=restrictions)["shortCode"]

    shown = visitor.get(f"/{code}+")
    in_json = visitor.get(f"/{code}+", headers=JSON)

    assert [shown.status_code, in_json.status_code] == [403, 403]
    assert_page(shown, title=refusals.CAPPED.title, message=refusals.CAPPED.message)
    assert_json_refusal(in_json, reason="capped", message=refusals.CAPPED.message)
    assert b"example.com" not in shown.content + in_json.content


def test_a_preview_is_not_a_click(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    links = [make_link(), make_link(restrictions={"maxClicks": 1})]

    for link, status in zip(links, (200, 403), strict=True):
        for _ in range(3):
            assert visitor.get(f"/{link['shortCode']}+").status_code == status
    totals = [counts(api, link) for link in links]

    assert totals == [counts(api, make_link())] * 2
    assert [visitor.get(f"/{link['shortCode']}").status_code for link in links] == [302, 302]


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"isActive": False}, refusals.DISABLED),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, refusals.EXPIRED),
        ({"restrictions": {"allowedCountries": ["GB"]}}, refusals.COUNTRY),
        ({"restrictions": {"allowedDevices": ["mobile"]}}, refusals.DEVICE),
        ({"password": "secret"}, refusals.PASSWORD),
        ({"isActive": False, "password": "secret"}, refusals.DISABLED),
    ],
)
def test_a_refused_link_has_no_preview(
    visitor: Client, api: APIClient, make_link: MakeLink, *, fields: dict[str, Any], refusal: Refusal
) -> None:
    link = make_link("https://hidden.example/")
    before = counts(api, link)
    api.put(f"/api/urls/{link['_id']}", fields)

    page = visitor.get(f"/{link['shortCode']}+")
    response = visitor.get(f"/{link['shortCode']}+", headers=JSON)

    assert (page.status_code, response.status_code) == (refusal.status, refusal.status)
    assert_page(page, title=refusal.title, message=refusal.message)
    assert_json_refusal(response, reason=refusal.reason, message=refusal.message)
    assert "hidden" not in page.content.decode() + response.content.decode()
    assert counts(api, link) == before


def test_a_used_up_link_has_no_preview(visitor: Client, make_link: MakeLink) -> None:
    link = make_link("https://hidden.example/", restrictions={"maxClicks": 1})
    visitor.get(f"/{link['shortCode']}")

    response = visitor.get(f"/{link['shortCode']}+")

    assert (response.status_code, b"hidden" in response.content) == (410, False)


def test_an_unlocked_link_still_has_no_preview(visitor: Client, make_link: MakeLink) -> None:
    path = f"/{make_link(password='secret')['shortCode']}"
    token = parse(visitor.get(path)).value_of("csrfmiddlewaretoken")
    visitor.post(path, {"csrfmiddlewaretoken": token, "password": "secret"})
    assert visitor.get(path).status_code == 302

    assert visitor.get(f"{path}+").status_code == 401


@pytest.mark.parametrize("path", ["/unknown+", "/ab+", "/unknown++", "/unknown+/", "/api+", "/+"])
def test_previews_of_unknown_codes_return_404(visitor: Client, db: None, path: str) -> None:
    response = visitor.get(path)

    assert response.status_code == 404
    assert_page(response, title=refusals.NOT_FOUND.title, message=refusals.NOT_FOUND.message)


def test_a_preview_of_an_unknown_code_is_handled_like_a_visit(visitor: Client, alice: NewAccount) -> None:
    Domain.objects.create(
        owner=alice.workspace, domain="example.net", host="example.net", status=DomainStatus.ACTIVE,
        not_found_url="https://example.com/lost",
    )  # fmt: skip

    response = visitor.get("/unknown+", headers={"host": "example.net"})

    assert (response.status_code, response["Location"]) == (302, "https://example.com/lost")


def test_a_preview_works_on_the_links_own_host_only(
    visitor: Client, make_link: MakeLink, alice: NewAccount
) -> None:
    domain = Domain.objects.create(
        owner=alice.workspace, domain="example.net", host="example.net", status=DomainStatus.ACTIVE
    )
    code = make_link(DESTINATION, domainId=str(domain.public_id))["shortCode"]

    assert (
        visitor.get(f"/{code}+", headers={"host": "example.net", **JSON}).json()["destination"] == DESTINATION
    )
    assert visitor.get(f"/{code}+").status_code == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_a_preview_rejects_other_methods(visitor: Client, make_link: MakeLink, method: str) -> None:
    response = visitor.generic(method, f"/{make_link()['shortCode']}+")

    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")


def test_head_of_a_preview_has_no_body(visitor: Client, make_link: MakeLink) -> None:
    path = f"/{make_link()['shortCode']}+"

    assert (visitor.head(path).status_code, visitor.head(path).content) == (200, b"")


def test_a_preview_takes_one_query(
    visitor: Client, make_link: MakeLink, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    path = f"/{make_link()['shortCode']}+"

    with django_assert_num_queries(1):
        visitor.get(path)
