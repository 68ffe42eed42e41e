"""Which codes redirect."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from domains.models import Domain
from redirects import refusals
from testing.pages.html import check_page
from testing.redirects.following import CUSTOM_HOST, DESTINATION, redirect_headers
from testing.redirects.following import domain as domain

MakeLink = Callable[..., dict[str, Any]]


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
    check_page(response, title=refusals.NOT_FOUND.title, message=refusals.NOT_FOUND.message)


def test_all_codes_of_a_deleted_link_return_404(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    link = make_link(customCode="spring")
    api.put(f"/api/urls/{link['_id']}", {"customCode": "summer"})
    api.delete(f"/api/urls/{link['_id']}")

    codes = (link["shortCode"], "spring", "summer")
    assert [visitor.get(f"/{code}").status_code for code in codes] == [404, 404, 404]
