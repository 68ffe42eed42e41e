from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from domains.models import Domain
from pages.refusals import METHOD_NOT_ALLOWED
from redirects import refusals
from testing.cases import for_each
from testing.pages.html import assert_json_refusal, assert_page
from testing.redirects.following import CUSTOM_HOST, DESTINATION, FUTURE, PAST, redirect_headers
from testing.redirects.following import domain as domain
from testing.visitors.addresses import AMERICAN

MakeLink = Callable[..., dict[str, Any]]

# The response


@pytest.mark.parametrize(
    ("fields", "status", "cache_control"),
    [
        ({}, 302, "private, no-store"),
        ({"redirectType": 302}, 302, "private, no-store"),
        ({"redirectType": 301}, 301, "private, max-age=90"),
        ({"redirectType": None}, 302, "private, no-store"),
        ({"expiresAt": FUTURE}, 302, "no-store"),
        ({"expiresAt": FUTURE, "redirectType": 301}, 301, "no-store"),
        ({"restrictions": {"maxClicks": 9}}, 302, "no-store"),
        ({"restrictions": {"maxClicks": 9}, "redirectType": 301}, 301, "no-store"),
        ({"restrictions": {"allowedCountries": ["US"]}}, 302, "no-store"),
        ({"restrictions": {"allowedCountries": ["US"]}, "redirectType": 301}, 301, "no-store"),
        ({"restrictions": {"blockedCountries": ["GB"]}, "redirectType": 301}, 301, "no-store"),
        ({"restrictions": {"allowedDevices": ["desktop"]}, "redirectType": 301}, 301, "no-store"),
        ({"restrictions": {}, "redirectType": 301}, 301, "private, max-age=90"),
    ],
)
def test_a_redirect_has_exactly_these_headers(
    visitor: Client, make_link: MakeLink, fields: dict[str, Any], status: int, cache_control: str
) -> None:
    code = make_link(**fields)["shortCode"]

    response = visitor.get(f"/{code}", REMOTE_ADDR=AMERICAN)

    assert response.status_code == status
    assert dict(response.headers) == redirect_headers(DESTINATION, cache_control)
    assert response.cookies == {}
    assert response.content == b""


@for_each(
    ("original_url", "utm", "location"),
    [
        ("https://example.com", {}, "https://example.com/"),
        ("HTTPS://EXAMPLE.com:443/A?b=C#D", {}, "https://example.com/A?b=C#D"),
        ("https://example.com/a/../b/./c", {}, "https://example.com/b/c"),
        ("https://example.com/?q=a+b%20c&&x=", {}, "https://example.com/?q=a+b%20c&&x="),
        ("https://example.com/#/route?x=1", {}, "https://example.com/#/route?x=1"),
        ("http://example.com:8080/", {}, "http://example.com:8080/"),
        ("http://[2001:DB8::1]/", {}, "http://[2001:db8::1]/"),
        (
            "https://bücher.example/straße?ä=ö#ü",
            {},
            "https://xn--bcher-kva.example/stra%C3%9Fe?%C3%A4=%C3%B6#%C3%BC",
        ),
        ("https://日本語.jp/日本", {}, "https://xn--wgv71a119e.jp/%E6%97%A5%E6%9C%AC"),
        ("https://\uff27\uff4f.com/", {}, "https://go.com/"),
        ("https://example.com/a b", {}, "https://example.com/a%20b"),
        ("https://example.com/page", {"source": "mail"}, "https://example.com/page?utm_source=mail"),
        (
            "https://example.com/page?a=1#top",
            {"content": "e", "term": "d", "campaign": "c", "medium": "b", "source": "a"},
            "https://example.com/page?a=1&utm_source=a&utm_medium=b&utm_campaign=c&utm_term=d&utm_content=e#top",
        ),
        (
            "https://example.com/?utm_source=old&x=1&utm%5Fsource=older&utm_medium=kept",
            {"source": "new"},
            "https://example.com/?x=1&utm_medium=kept&utm_source=new",
        ),
        (
            "https://example.com/",
            {"source": "a&b=c#d\r\nX: y", "medium": "ß ✓"},
            "https://example.com/?utm_source=a%26b%3Dc%23d%0D%0AX%3A%20y&utm_medium=%C3%9F%20%E2%9C%93",
        ),
        ("https://example.com/?utm_source=mine", {"source": ""}, "https://example.com/?utm_source=mine"),
        ("https://example.com/?utm_source=mine", {"source": None}, "https://example.com/?utm_source=mine"),
    ],
)
def test_location_is_the_canonical_destination_with_utm_parameters(
    visitor: Client, make_link: MakeLink, original_url: str, utm: dict[str, Any], location: str
) -> None:
    code = make_link(original_url, utm=utm)["shortCode"]

    assert dict(visitor.get(f"/{code}").headers) == redirect_headers(location)
    assert location.isascii()


def test_the_longest_destination_with_the_longest_utm_is_not_truncated(
    visitor: Client, make_link: MakeLink
) -> None:
    url = "https://example.com/".ljust(2048, "x")
    names = ("source", "medium", "campaign", "term", "content")
    code = make_link(url, utm=dict.fromkeys(names, "\U0001d4b3" * 200))["shortCode"]

    utm = "&".join(f"utm_{name}={'%F0%9D%92%B3' * 200}" for name in names)
    assert visitor.get(f"/{code}")["Location"] == f"{url}?{utm}"


@pytest.mark.parametrize(
    "fields", [{}, {"redirectType": 301}, {"isActive": False}, {"password": "secret"}, {"expiresAt": PAST}]
)
def test_head_returns_the_headers_of_get_without_a_body(
    visitor: Client, api: APIClient, make_link: MakeLink, fields: dict[str, Any]
) -> None:
    link = make_link(**{name: value for name, value in fields.items() if name != "isActive"})
    api.put(f"/api/urls/{link['_id']}", fields)

    get, head = visitor.get(f"/{link['shortCode']}"), visitor.head(f"/{link['shortCode']}")

    assert head.status_code == get.status_code
    assert dict(head.headers) == dict(get.headers)
    assert head.content == b""


def test_a_redirect_takes_one_read_and_with_a_click_limit_one_write(
    visitor: Client, make_link: MakeLink, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    link, capped = make_link(), make_link(restrictions={"maxClicks": 9})

    for tested_link, first, later, head, status in ((link, 1, 0, 0, 302), (capped, 2, 2, 1, 200)):
        for queries in (first, later):
            with django_assert_num_queries(queries):
                assert visitor.get(f"/{tested_link['shortCode']}").status_code == 302
        with django_assert_num_queries(head):
            assert visitor.head(f"/{tested_link['shortCode']}").status_code == status


def test_an_edit_takes_effect_at_the_next_visit(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    link = make_link()

    def visit_after(**changes: Any) -> tuple[int, str]:
        assert api.put(f"/api/urls/{link['_id']}", changes).status_code == 200
        response = visitor.get(f"/{link['shortCode']}")
        return response.status_code, response.get("Location", "")

    assert visit_after(isActive=False) == (410, "")
    assert visit_after(isActive=True) == (302, DESTINATION)
    assert visit_after(expiresAt=PAST) == (410, "")
    assert visit_after(expiresAt=None) == (302, DESTINATION)
    assert visit_after(redirectType=301, utm={"source": "a"}) == (301, f"{DESTINATION}?utm_source=a")
    assert visit_after(utm=None, redirectType=None) == (302, DESTINATION)
    assert visit_after(restrictions={"allowedDevices": ["mobile"]}) == (403, "")
    assert visit_after(restrictions=None) == (302, DESTINATION)
    assert visit_after(password="secret") == (401, "")
    assert visit_after(password=None) == (302, DESTINATION)


# Methods


@for_each("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "EVIL"])
@for_each("known", [True, False])
def test_other_methods_are_not_allowed(
    visitor: Client, make_link: MakeLink, method: str, known: bool
) -> None:
    code = make_link()["shortCode"] if known else "unknown"

    page = visitor.generic(method, f"/{code}")
    json = visitor.generic(method, f"/{code}", headers={"accept": "application/json"})

    for response in (page, json):
        assert response.status_code == 405
        assert response["Allow"] == "GET, HEAD, POST"
    refusal = METHOD_NOT_ALLOWED
    assert_page(page, title=refusal.title, message=refusal.message)
    assert_json_refusal(json, reason="method_not_allowed", message=refusal.message)


def test_post_to_a_link_without_password_redirects_to_get(visitor: Client, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]

    response = visitor.post(f"/{code}?next=//evil.example", {"password": "x", "url": "//evil.example"})

    assert response.status_code == 303
    assert response["Location"] == f"/{code}"
    assert response["Cache-Control"] == "no-store"
    assert response.cookies == {}


def test_short_custom_and_former_custom_codes_redirect(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")
    for code in ("Summer", "autumn2"):
        assert api.put(f"/api/urls/{link['_id']}", {"customCode": code}).status_code == 200

    codes = (link["shortCode"], "spring", "Summer", "autumn2")
    assert [visitor.get(f"/{code}").get("Location") for code in codes] == [DESTINATION] * 4


def test_codes_are_case_sensitive(visitor: Client, make_link: MakeLink) -> None:
    make_link("https://example.com/lower", customCode="promo")
    make_link("https://example.com/upper", customCode="PROMO")

    assert visitor.get("/promo")["Location"] == "https://example.com/lower"
    assert visitor.get("/PROMO")["Location"] == "https://example.com/upper"
    assert visitor.get("/Promo").status_code == 404


@pytest.mark.parametrize("code", ["abc", "0" * 50, "007", "Z9z"])
def test_the_shortest_and_the_longest_codes_work(visitor: Client, make_link: MakeLink, code: str) -> None:
    make_link(customCode=code)

    assert visitor.get(f"/{code}")["Location"] == DESTINATION


@pytest.mark.parametrize(
    "code", ["apiary", "apidocs", "adminton", "administer", "statics", "robotsx", "healthzz"]
)
@pytest.mark.parametrize("host", ["sho.rt", CUSTOM_HOST])
def test_a_code_may_share_a_prefix_with_a_reserved_path(
    visitor: Client, make_link: MakeLink, domain: Domain, code: str, host: str
) -> None:
    make_link(customCode=code, domainId="base" if host == "sho.rt" else str(domain.public_id))

    response = visitor.get(f"/{code}", headers={"host": host})

    assert response.status_code == 302
    assert dict(response.headers) == redirect_headers(DESTINATION)


@pytest.mark.parametrize(
    "path",
    [
        "/" + "a" * 256, "/a-b,c", "/abc\n", "/abc\x00", "/\x00abc", "/é€ß", "/abc//", "/abc/x",
        "/a b", "/abc%00", "/..", "/../../etc/passwd", "/.well-known/security.txt",
        "/\uff41\uff42\uff43", "/\uff11\uff12\uff13", "/\u0661\u0662\u0663", "//abc", "/;abc", "/abc;x",
    ],
)  # fmt: skip
def test_invalid_codes_return_404_without_a_database_query(
    visitor: Client, db: None, django_assert_num_queries: DjangoAssertNumQueries, path: str
) -> None:
    with django_assert_num_queries(0):
        response = visitor.get("/", PATH_INFO=path.encode().decode("latin-1"))

    assert response.status_code == 404
    assert_page(response, title=refusals.NOT_FOUND.title, message=refusals.NOT_FOUND.message)


def test_all_codes_of_a_deleted_link_return_404(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    link = make_link(customCode="spring")
    api.put(f"/api/urls/{link['_id']}", {"customCode": "summer"})
    api.delete(f"/api/urls/{link['_id']}")

    codes = (link["shortCode"], "spring", "summer")
    assert [visitor.get(f"/{code}").status_code for code in codes] == [404, 404, 404]
